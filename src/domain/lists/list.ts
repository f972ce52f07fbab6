/**
 * A deferred list: jobs that wait until a worker claims them or a trigger turns them into tasks. The jobs are numbered
 * in the order in which they were added. Pure.
 *
 *     0 ───────────── head ──────────── total
 *       handed out          fresh
 *
 * A job's number is its token. The list's row is the header of its tracker (T9): open ──▶ sealed ──▶ complete, or
 * cancelled from open or sealed. Each job before `head` is in a lease, is done, or was taken by a trigger. A lease is
 * in one of these states:
 *
 * - *live*: `until` is in the future. Only its claim may renew it (D4), complete its jobs (D5) or release it (D6).
 * - *late*: `until` passed less than 60 s ago. Its claim may do the same. No other claim may take it, because clocks
 *   differ.
 * - *expired*: `until` passed at least 60 s ago. Its claim may still renew it; any other claim, or a trigger, may take
 *   it (D3, D7).
 * - *free*: `until` is 0, and its key names no claim. Any claim or trigger may take it (D2, D7).
 *
 * Invariants: no job is in two leases. Each change names the leases as they were read.
 */

import type { FanOut, NewFanOut } from '../fan-outs/fan-out.ts';
import type { Millis } from '../ids.ts';
import { CLOCK_SKEW, SECOND } from '../timings.ts';
import { freeKeyOf, type LeaseKey, type Range } from './ids.ts';

/**
 * A range of jobs that a worker has claimed, or that is free again. `until` is the end of the lease, or 0 if the range
 * is free.
 */
export interface Lease extends Range {
  readonly key: LeaseKey;
  readonly until: Millis;
}

/** A list as stored when it is opened. The list's name is stored as `userKey`. */
export interface NewList extends NewFanOut {
  /** The operation of the tasks into which a trigger turns the list's jobs. */
  readonly operation?: string;
}

/** A stored list. */
export interface List extends FanOut {
  readonly operation?: string;
  /** The first job that was never handed out. */
  readonly head: number;
  /**
   * The leases in the order of their first jobs. No job is in two leases, and all jobs of leases come before `head`.
   */
  readonly leases: readonly Lease[];
}

/** A job as a claim or trigger receives it. */
export interface Job {
  readonly token: number;
  /** JSON text, exactly as sent. */
  readonly payload: string;
}

/** The largest number of claims that a list has at the same time (D2). Each claim writes the row with all claims. */
export const CLAIMS_MAX = 64;
/**
 * The largest number of leases that one write can check. Each lease needs six of the 300 operators that a condition may
 * have.
 */
const SEEN_MAX = 40;

/** The end of a lease. Leases are stored in whole seconds. */
export const leaseEnd = (now: Millis, span: Millis): Millis => Math.ceil((now + span) / SECOND) * SECOND;

/**
 * Whether the jobs of a lease may be handed out again (D3). The clocks of the function that granted the lease and of
 * its worker may both be wrong by `CLOCK_SKEW`.
 */
export const isFree = ({ until }: Lease, now: Millis): boolean => until === 0 || until + 2 * CLOCK_SKEW < now;

export const endOf = ({ first, count }: Range): number => first + count;

/** Whether a list in this status hands out jobs. */
export const handsOut = ({ status }: Pick<List, 'status'>): boolean => status === 'open' || status === 'sealed';

export const freshOf = ({ total, head }: List): number => total - head;

/** How a claim gets jobs. */
export type ClaimPlan =
  /** The claim has these jobs already. */
  | { readonly do: 'hand-out'; readonly lease: Lease }
  /** The claim's lease has ended, and no other claim has taken its jobs. */
  | { readonly do: 'renew'; readonly lease: Lease }
  /** Jobs that other claims gave back, or of leases that have ended (D3). `rest` is the part that stays free. */
  | { readonly do: 'take'; readonly from: readonly Lease[]; readonly range: Range; readonly rest?: Lease }
  /** Jobs that were never handed out (D2). */
  | { readonly do: 'fresh'; readonly count: number }
  | { readonly do: 'none' }
  /** The list already has the largest number of claims. */
  | { readonly do: 'wait' }
  | { readonly do: 'refuse' };

export const planClaim = (list: List, key: LeaseKey, count: number, now: Millis): ClaimPlan => {
  const mine = list.leases.find((lease) => lease.key === key);
  if (mine) return isFree(mine, now) ? { do: 'renew', lease: mine } : { do: 'hand-out', lease: mine };
  if (!handsOut(list)) return { do: 'refuse' };
  const free = list.leases.filter((lease) => isFree(lease, now));
  const fresh = freshOf(list);
  if (free.length === 0 && fresh === 0) return { do: 'none' };
  if (list.leases.length - free.length >= CLAIMS_MAX) return { do: 'wait' };
  const [first] = free;
  if (!first) return { do: 'fresh', count: Math.min(count, fresh) };
  const from = [first];
  const end = (): number => endOf(from.at(-1) as Lease);
  for (const lease of free.slice(1, SEEN_MAX)) {
    if (lease.first !== end() || end() - first.first >= count) break;
    from.push(lease);
  }
  const taken = Math.min(count, end() - first.first);
  return { do: 'take', from, range: { first: first.first, count: taken }, ...restOf(first.first + taken, end()) };
};

const restOf = (first: number, end: number): { readonly rest?: Lease } =>
  first < end ? { rest: freed({ first, count: end - first }) } : {};

/** A free lease, for jobs that go back to the pool. */
export const freed = ({ first, count }: Range): Lease => ({ key: freeKeyOf(first), first, count, until: 0 });

/** What a trigger hands out: first jobs that were given back or whose lease has ended, then fresh jobs. */
export interface TriggerPlan {
  readonly ranges: readonly Range[];
  readonly from: readonly Lease[];
  /** The part of the last of these leases that stays free. */
  readonly rest?: Lease;
  readonly fresh: number;
}

/** The free leases that a trigger uses besides fresh jobs: as many as one write can check. */
export const freeToTrigger = ({ leases }: List, now: Millis): readonly Lease[] =>
  leases.filter((lease) => isFree(lease, now)).slice(0, SEEN_MAX);

/**
 * Plans a trigger of `count` jobs (D7), or of all jobs that are left if there are fewer. @param free leases, each with
 * its jobs that are not done; only these are handed out
 */
export const planTrigger = (
  list: List,
  count: number,
  free: readonly { readonly lease: Lease; readonly open: readonly Range[] }[],
): TriggerPlan => {
  const from: Lease[] = [];
  const ranges: Range[] = [];
  let wanted = count;
  for (const { lease, open } of free) {
    if (wanted === 0) break;
    const taken = partOf(open, 0, wanted);
    from.push(lease);
    ranges.push(...taken);
    wanted -= countOf(taken);
  }
  const fresh = Math.min(wanted, freshOf(list));
  const [lease, range] = [from.at(-1), ranges.at(-1)];
  return {
    from,
    fresh,
    ranges: fresh > 0 ? [...ranges, { first: list.head, count: fresh }] : ranges,
    // If the free leases sufficed, a part of the last one may be left.
    ...(wanted === 0 && lease && range ? restOf(endOf(range), endOf(lease)) : {}),
  };
};

/** A range without some of its jobs. */
export const without = (range: Range, done: Pick<ReadonlySet<number>, 'has'>): readonly Range[] => {
  const open: Range[] = [];
  for (const token of tokensOf(range).filter((each) => !done.has(each))) {
    const last = open.at(-1);
    if (last && endOf(last) === token) open[open.length - 1] = { ...last, count: last.count + 1 };
    else open.push({ first: token, count: 1 });
  }
  return open;
};

export const countOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { count }) => sum + count, 0);

/** At most `count` jobs of some ranges, from position `from` on if the ranges are placed end to end. */
export const partOf = (ranges: readonly Range[], from: number, count: number): readonly Range[] => {
  let [skip, left] = [from, count];
  return ranges.flatMap((range) => {
    const skipped = Math.min(skip, range.count);
    const taken = Math.min(left, range.count - skipped);
    skip -= skipped;
    left -= taken;
    return taken > 0 ? [{ first: range.first + skipped, count: taken }] : [];
  });
};

export const tokensOf = ({ first, count }: Range): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index);
