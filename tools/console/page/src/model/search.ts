/** What a search found, in words and with the views to which its hits lead. Pure. */

import { lowerBoundOf } from '../../../../lower-bounds.ts';
import type { Found, FoundGroup, Hit, Searched } from '../../../server/shapes.ts';
import { capital, clock, plural } from '../base/format.ts';
import type { Route } from '../base/router.ts';

const NAMES: Readonly<Record<Hit['kind'], readonly [one: string, many: string]>> = {
  task: ['task', 'tasks'],
  batch: ['batch', 'batches'],
  operation: ['operation', 'operations'],
  target: ['Target', 'Targets'],
  'fan-out': ['fan-out', 'fan-outs'],
  list: ['list', 'lists'],
  fleet: ['fleet', 'fleets'],
};

/** The name of a group of hits. */
export const groupName = (kind: Hit['kind']): string => capital(NAMES[kind][1]);

export const routeOfHit = ({ kind, id }: Pick<Hit, 'kind' | 'id'>): Route => {
  switch (kind) {
    case 'operation':
      return { view: 'operation', name: id };
    case 'target':
      return { view: 'target', target: id };
    case 'task':
    case 'batch':
    case 'fan-out':
    case 'list':
    case 'fleet':
      return { view: kind, id };
  }
};

/** The view that the Enter key opens: that of the only exact hit. Without one, all results are shown. */
export const routeOfEnter = (text: string, found: Found | undefined): Route => {
  const exact = found?.query === text ? found.groups.flatMap(({ hits }) => hits.filter(({ isExact }) => isExact)) : [];
  const [hit, other] = exact;
  return hit && !other ? routeOfHit(hit) : { view: 'search', text };
};

/** Whether there may be more hits than were found, because not all names of this kind were searched. */
const isCut = ({ searched }: Found, of: Hit['kind']): boolean =>
  searched.some(({ kind, isAll }) => kind === of && !isAll);

/** How many hits a group has: `7 Targets`, or a lower bound if not all names were searched. */
export const totalOfGroup = (found: Found, { kind, total }: FoundGroup): string =>
  lowerBoundOf(total, isCut(found, kind), ...NAMES[kind]);

/** Number of hits in words, for screen readers. */
export const summaryOf = (found: Found): string => {
  const total = found.groups.reduce((sum, group) => sum + group.total, 0);
  const hasMore = found.isReading || found.searched.some(({ isAll }) => !isAll);
  if (total === 0) return hasMore ? 'Nothing found so far' : 'Nothing found';
  return lowerBoundOf(total, hasMore, 'result');
};

/** Names the searched lists, in one sentence. @param now in milliseconds since the epoch. */
export const searchedWords = ({ searched, readAt, isReading }: Found, now: number): string => {
  const parts = [...others(searched), ...targets(searched)];
  if (isReading) return `The names are still being read; so far ${inOrder(parts)}.`;
  return `Searched: ${inOrder(parts)}${readAt === undefined ? '' : `, as of ${clock(readAt, now)}`}.`;
};

const others = (searched: readonly Searched[]): readonly string[] =>
  searched
    .filter(({ kind }) => kind !== 'target')
    .map(({ kind, names, isAll }) => {
      if (isAll) return plural(names, ...NAMES[kind]);
      return names === 0
        ? `no ${NAMES[kind][1]}, because they could not be read`
        : `the first ${plural(names, ...NAMES[kind])}`;
    });

const targets = (searched: readonly Searched[]): readonly string[] => {
  const of = searched.filter(({ kind }) => kind === 'target');
  const whole = of.filter(({ isAll }) => isAll);
  const sum = whole.reduce((all, { names }) => all + names, 0);
  const unread = of.filter(({ isAll, names }) => !isAll && names === 0).map(({ operation }) => operation);
  return [
    ...(whole.length > 0
      ? [`${whole.length === of.length ? 'all ' : ''}${plural(sum, 'Target')} of ${namesOf(whole)}`]
      : []),
    ...of
      .filter(({ isAll, names }) => !isAll && names > 0)
      .map(({ operation = '', names }) => `only the first ${plural(names, 'Target')} of ${operation}`),
    ...(unread.length > 0
      ? [`no Targets of ${unread.length > 3 ? plural(unread.length, 'other operation') : unread.join(', ')}`]
      : []),
  ];
};

const namesOf = (of: readonly Searched[]): string =>
  of.length > 3 ? plural(of.length, 'operation') : of.map(({ operation }) => operation).join(', ');

const inOrder = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? 'nothing') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
