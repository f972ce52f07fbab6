/** The orders of a list of Targets. The API sorts a part of all Targets, the command line all of them. Pure. */
import type { Target } from './responses.ts';

/** What a list of Targets is sorted by. A Target that has none of it is left out. */
export type SortKey = 'waiting' | 'oldest' | 'retried' | 'failed' | 'paused';

/** The fields that decide. */
type Sorted = Pick<Target, 'waiting' | 'oldestAt' | 'underWay' | 'failed' | 'paused' | 'blocked'>;

/** Larger for an earlier time. */
const before = (time: string | undefined): number | undefined => (time === undefined ? undefined : -Date.parse(time));

const ORDERS: Readonly<Record<SortKey, (target: Sorted) => number | undefined>> = {
  waiting: ({ waiting }) => waiting || undefined,
  oldest: ({ oldestAt }) => before(oldestAt),
  retried: ({ underWay }) => before(underWay?.oldestAt),
  failed: ({ failed }) => failed || undefined,
  paused: ({ paused, blocked }) => before(paused?.since ?? blocked?.since),
};

/** The Targets that have what the list is sorted by, the one with the most of it, or the oldest, first. */
export const sortedBy = <T extends Sorted>(targets: readonly T[], sort: SortKey): readonly T[] =>
  targets
    .flatMap((target) => {
      const value = ORDERS[sort](target);
      return value === undefined ? [] : [{ target, value }];
    })
    .toSorted((a, b) => b.value - a.value)
    .map(({ target }) => target);
