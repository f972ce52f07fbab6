/**
 * Finds the jobs of a list with a status. Jobs with an outcome are found by the counts of the tracker's groups
 * (`items.ts`). Open jobs are found by the leases: a job before `head` that is in no lease was triggered.
 */
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import { listOf, type Range } from '../../domain/lists/ids.ts';
import { freshOf, isFree, type Lease, type List } from '../../domain/lists/list.ts';
import { countOf, endOf, partOf, rangesOf, without } from '../../domain/lists/ranges.ts';
import { inParts } from '../../util/parts.ts';
import type { ListDeps } from '../deps.ts';
import { itemsWith } from '../fan-outs/items.ts';
import { doneIn } from './done.ts';

/** `started`: the job was turned into a task, or soon will be. */
export type OpenStatus = 'waiting' | 'leased' | 'started';

/** Jobs in their order. `next`: the job with which the next page begins. */
interface Found {
  readonly ranges: readonly Range[];
  readonly next?: number;
}

type Deps = Pick<ListDeps, 'fanOuts' | 'machine'>;

/** @param list with all of its leases, those in rows of their own included */
export const jobsWith = (
  deps: Deps,
  list: List,
  status: OpenStatus | ItemOutcome,
  from: number,
  most: number,
): Promise<Found> =>
  status === 'succeeded' || status === 'failed'
    ? endedWith(deps, list, status, from, most)
    : openWith(deps, list, status, from, most);

const endedWith = async (
  { fanOuts }: Deps,
  list: List,
  status: ItemOutcome,
  from: number,
  most: number,
): Promise<Found> => {
  const { width } = fanOuts;
  const place = { group: Math.floor(from / width), index: from % width };
  const { places, next } = await itemsWith(fanOuts, list, status, place, most);
  return {
    ranges: rangesOf(places.map(({ group, index }) => group * width + index)),
    ...(next ? { next: next.group * width + next.index } : {}),
  };
};

/** The largest number of ranges and of groups of the tracker that are read for one page. */
const [RANGES_READ, GROUPS_READ] = [100, 200];

const openWith = async (
  { fanOuts, machine }: Deps,
  list: List,
  status: OpenStatus,
  from: number,
  most: number,
): Promise<Found> => {
  const candidates = candidatesFor(status, list, machine.now()).flatMap((range) => {
    const first = Math.max(range.first, from);
    return first < endOf(range) ? [{ first, count: endOf(range) - first }] : [];
  });
  const read = partOf(candidates, 0, GROUPS_READ * fanOuts.width).slice(0, RANGES_READ);
  const open: Range[] = [];
  for (const some of inParts(read, 8)) {
    const done = await doneIn(fanOuts, listOf(list.id), some);
    open.push(...some.flatMap((range) => without(range, done)));
    if (countOf(open) > most) break;
  }
  const ranges = partOf(open, 0, most);
  const [first] = partOf(open, most, 1);
  const [after] = partOf(candidates, countOf(read), 1);
  const next = first?.first ?? after?.first;
  return { ranges, ...(next === undefined ? {} : { next }) };
};

/** The ranges whose jobs have the status if they are not done. */
const candidatesFor = (status: OpenStatus, list: List, now: number): readonly Range[] => {
  const { leases, head } = list;
  const fits = (lease: Lease): boolean => (status === 'waiting') === isFree(lease, now);
  const inOrder = [...leases].sort((a, b) => a.first - b.first);
  if (status === 'started') return between(inOrder, head);
  const fresh = status === 'waiting' && freshOf(list) > 0 ? [{ first: head, count: freshOf(list) }] : [];
  return [...inOrder.filter(fits), ...fresh];
};

/** The jobs before `head` that are in no lease. */
const between = (leases: readonly Lease[], head: number): readonly Range[] => {
  const starts = [0, ...leases.map(endOf)];
  const ends = [...leases.map(({ first }) => first), head];
  return starts.flatMap((first, n) => {
    const count = (ends[n] ?? head) - first;
    return count > 0 ? [{ first, count }] : [];
  });
};
