/**
 * A deferred list: jobs that wait until they are asked for, numbered in the order in which they were added (design,
 * section 8). Pure.
 *
 *     0 ───────────── head ──────────── total
 *       handed out          fresh
 *
 * What was handed out is either leased, or free again, or gone: to tasks, or done. A job's number is its token. The
 * list's row is the header of its tracker (T9), and has its life: open ──▶ sealed ──▶ complete; or cancelled, from open
 * or sealed.
 */

import type { FanOut, NewFanOut } from '../fan-outs/fan-out.ts';
import type { Millis } from '../ids.ts';
import { CLOCK_SKEW, SECOND } from '../timings.ts';
import { freeKeyOf, type LeaseKey, type Range } from './ids.ts';

/** Jobs that somebody has claimed, or had: until then, 0 for nobody's. */
export interface Lease extends Range {
  readonly key: LeaseKey;
  readonly until: Millis;
}

/** A list as it is opened; its name is its `userKey`. */
export interface NewList extends NewFanOut {
  /** The operation of the tasks that its jobs become, if they ever do. */
  readonly operation?: string;
}

/** A list as it is stored. */
export interface List extends FanOut {
  readonly operation?: string;
  /** The first job that was never handed out. */
  readonly head: number;
  /** By their first jobs. No job is in two of them, and none is at `head` or beyond. */
  readonly leases: readonly Lease[];
}

/** A job as it is handed out. */
export interface Job {
  readonly token: number;
  /** JSON text, exactly as sent. */
  readonly payload: string;
}

/** D2. Claims that a list has at once: each is written with all of the others. */
export const CLAIMS_MAX = 64;
/** Leases that one write looks at: each takes six of the 300 operators that a condition may have. */
const SEEN_MAX = 40;

/** Whole seconds, as they are stored. */
export const leaseEnd = (now: Millis, span: Millis): Millis => Math.ceil((now + span) / SECOND) * SECOND;

/** D3. Whether its jobs may be handed out again: whoever granted it, and whoever has it, may be late by their clocks. */
export const isFree = ({ until }: Lease, now: Millis): boolean => until === 0 || until + 2 * CLOCK_SKEW < now;

export const endOf = ({ first, count }: Range): number => first + count;

/** Whether anything may be handed out, if there is something. */
export const handsOut = ({ status }: Pick<List, 'status'>): boolean => status === 'open' || status === 'sealed';

export const freshOf = ({ total, head }: List): number => total - head;

/** What somebody who claims gets. */
export type ClaimPlan =
  /** It is his already. */
  | { readonly do: 'hand-out'; readonly lease: Lease }
  /** It was his, and nobody took it. */
  | { readonly do: 'renew'; readonly lease: Lease }
  /** D3. Jobs that others had, or gave back; what he does not want stays free. */
  | { readonly do: 'take'; readonly from: readonly Lease[]; readonly range: Range; readonly rest?: Lease }
  /** D2. */
  | { readonly do: 'fresh'; readonly count: number }
  | { readonly do: 'none' }
  /** As many as can have claimed something have. */
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

/** Jobs that go back to the pool. */
export const freed = ({ first, count }: Range): Lease => ({ key: freeKeyOf(first), first, count, until: 0 });

/** What a trigger hands out: what was given back, or left by whoever had it, and then fresh jobs. */
export interface TriggerPlan {
  readonly ranges: readonly Range[];
  readonly from: readonly Lease[];
  /** What stays free of the last of these. */
  readonly rest?: Lease;
  readonly fresh: number;
}

/** What a trigger looks at beside fresh jobs: as much as one write can. */
export const freeToTrigger = ({ leases }: List, now: Millis): readonly Lease[] =>
  leases.filter((lease) => isFree(lease, now)).slice(0, SEEN_MAX);

/** D7. All that is left, where that is less. @param free with what of them is not done: that alone is handed out */
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
    // Something is left of the last one where it was enough.
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

/** The part of some ranges, put one behind the other, that begins at `from` and has at most `count` jobs. */
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
