import { expect, it } from 'vitest';
import {
  routeOfEnter,
  routeOfHit,
  searchedWords,
  summaryOf,
  totalOfGroup,
} from '../../../tools/console/page/src/model/search.ts';
import type { Found, Hit, Searched } from '../../../tools/console/server/shapes.ts';
import { NOW } from './kit.ts';

const TIME = new Date(NOW).toTimeString().slice(0, 8);
const ALL: readonly Searched[] = [
  { kind: 'operation', names: 2, isAll: true },
  { kind: 'fleet', names: 1, isAll: true },
  { kind: 'target', operation: 'ship', names: 12, isAll: true },
];
const CUT: readonly Searched[] = [
  { kind: 'list', names: 0, isAll: false },
  { kind: 'fan-out', names: 100, isAll: false },
  { kind: 'target', operation: 'ship', names: 500, isAll: false },
  { kind: 'target', operation: 'sell', names: 3, isAll: true },
  { kind: 'target', operation: 'pack', names: 0, isAll: false },
];
const found = (fields: Partial<Found> = {}): Found => ({
  query: 'ship',
  groups: [],
  searched: ALL,
  isReading: false,
  readAt: NOW,
  ...fields,
});
const hit = (kind: Hit['kind'], id: string, isExact?: true): Hit => ({ kind, id, ...(isExact ? { isExact } : {}) });

it('what was searched is said honestly', () => {
  expect(searchedWords(found(), NOW)).toBe(
    `Searched: 2 operations, 1 fleet and all 12 Targets of ship, as of ${TIME}.`,
  );
  expect(searchedWords(found({ searched: CUT }), NOW)).toBe(
    `Searched: no lists, because they could not be read, the first 100 fan-outs, 3 Targets of sell, only the first 500 Targets of ship and no Targets of pack, as of ${TIME}.`,
  );
  expect(searchedWords(found({ isReading: true }), NOW)).toMatch(/^The names are still being read; so far /);
});

it('a number of hits is a lower bound if not all names were searched', () => {
  const group = { kind: 'target', hits: [], total: 7 } as const;
  expect([totalOfGroup(found(), group), totalOfGroup(found({ searched: CUT }), group)]).toEqual([
    '7 Targets',
    'at least 7 Targets',
  ]);
  expect([summaryOf(found({ groups: [group] })), summaryOf(found({ groups: [group], searched: CUT }))]).toEqual([
    '7 results',
    'at least 7 results',
  ]);
  expect([summaryOf(found()), summaryOf(found({ searched: CUT }))]).toEqual(['Nothing found', 'Nothing found so far']);
});

it('Enter opens the only exact hit of the typed text, or all results', () => {
  const of = (...hits: Hit[]) => found({ groups: hits.map((each) => ({ kind: each.kind, hits: [each], total: 1 })) });
  const all = { view: 'search', text: 'ship' };
  expect(routeOfEnter('ship', of(hit('operation', 'ship', true), hit('target', 'ship/a')))).toEqual({
    view: 'operation',
    name: 'ship',
  });
  expect(routeOfEnter('ship', of(hit('operation', 'ship', true), hit('list', 'ship', true)))).toEqual(all);
  expect(routeOfEnter('ship', of(hit('target', 'ship/a')))).toEqual(all);
  expect(routeOfEnter('ship', undefined)).toEqual(all);
  expect(routeOfEnter('ships', of(hit('operation', 'ship', true)))).toEqual({ view: 'search', text: 'ships' });
});

it('each kind of hit leads to its view', () => {
  const kinds = ['task', 'batch', 'target', 'fan-out', 'list', 'fleet'] as const;
  expect(kinds.map((kind) => routeOfHit({ kind, id: 'x' }))).toEqual(
    kinds.map((kind) => (kind === 'target' ? { view: kind, target: 'x' } : { view: kind, id: 'x' })),
  );
});
