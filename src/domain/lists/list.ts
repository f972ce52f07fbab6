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
 * - *live*: `until` is in the future. Only its claim may renew it (D4), complete its jobs (D5) or release it (D6). A
 *   person may break it (D12).
 * - *late*: `until` passed less than 60 s ago. Its claim may do the same. No other claim may take it, because clocks
 *   differ.
 * - *expired*: `until` passed at least 60 s ago. Its claim may still renew it; any other claim, or a trigger, may take
 *   it (D3, D7).
 * - *free*: `until` is 0, and its key names no claim. Any claim or trigger may take it (D2, D7).
 *
 * A claim has one lease or several. Its leases are in the list's row, or all in a row of their own (D13).
 *
 * Invariants: no job is in two leases. Each change names the leases as they were read.
 */

import type { FanOut, NewFanOut } from '../fan-outs/fan-out.ts';
import type { Millis } from '../ids.ts';
import { CLOCK_SKEW, SECOND } from '../timings.ts';
import { type ClaimKey, type Delivered, freeKeyOf, type LeaseKey, leaseKeyOf, type Range } from './ids.ts';
import { countOf } from './ranges.ts';

/**
 * A range of jobs that a worker has claimed, or that is free again. `until` is the end of the lease, or 0 if the range
 * is free.
 */
export interface Lease extends Range, Delivered {
  readonly key: LeaseKey;
  /** The claim that has, or had, these jobs. Undefined if the range is free. */
  readonly claim?: ClaimKey;
  readonly until: Millis;
}

/** Who made a claim, and when. */
export interface Holder {
  readonly since: Millis;
  /** The name that the worker gave. */
  readonly name?: string;
}

/** A claim, with all of its leases. They end at the same time. */
export interface StoredClaim {
  readonly key: ClaimKey;
  readonly leases: readonly Lease[];
  /** Undefined for a claim of a list that an older release opened. */
  readonly holder?: Holder;
}

/** The claims of a list that are in rows of their own (D13). */
export interface Apart {
  /** At most this many rows exist. A claim that ends deletes its row without changing this number. */
  readonly count: number;
  /** The earliest end of these leases: before it, none of them can be expired. */
  readonly until: Millis;
}

/** A list as stored when it is opened. The list's name is stored as `userKey`. */
export interface NewList extends NewFanOut {
  /** The operation of the tasks into which a trigger turns the list's jobs. */
  readonly operation?: string;
  /** How often a job is handed out to workers before it fails (D10). The configured number if undefined. */
  readonly maxDeliveries?: number;
}

/** A stored list. */
export interface List extends FanOut {
  readonly operation?: string;
  readonly maxDeliveries?: number;
  /** The first job that was never handed out. */
  readonly head: number;
  /**
   * The leases in the list's row, in the order of their first jobs. No job is in two leases, and all jobs of leases
   * come before `head`.
   */
  readonly leases: readonly Lease[];
  /** The holders of the claims in the list's row. Undefined if an older release opened the list. */
  readonly holders?: Readonly<Record<ClaimKey, Holder>>;
  readonly apart?: Apart;
}

/** A lease with its jobs that are not done. */
export interface OpenIn {
  readonly lease: Lease;
  readonly open: readonly Range[];
}

/** Number of jobs that are not done. */
export const openCount = (opened: readonly Pick<OpenIn, 'open'>[]): number =>
  countOf(opened.flatMap(({ open }) => open));

/** A job as a claim or trigger receives it. */
export interface Job {
  readonly token: number;
  /** JSON text, exactly as sent. */
  readonly payload: string;
}

/** The largest number of claims in the list's row (D2). Each claim writes the row with all of them. */
export const CLAIMS_MAX = 64;
/** The largest number of claims in rows of their own (D13). */
export const APART_MAX = 1_000;
/** The largest number of jobs in one claim. */
export const CLAIMED_MAX = 1_000;
/** The largest number of leases of one claim: the rest of what it asks for stays free. */
export const PIECES_MAX = 20;
/**
 * The largest number of leases that one write can check. Each lease needs six of the 300 operators that a condition may
 * have.
 */
export const SEEN_MAX = 40;

/** The end of a lease. Leases are stored in whole seconds. */
export const leaseEnd = (now: Millis, span: Millis): Millis => Math.ceil((now + span) / SECOND) * SECOND;

/**
 * When the jobs of a lease may be handed out again (D3). The clocks of the function that granted the lease and of its
 * worker may both be wrong by `CLOCK_SKEW`.
 */
export const freeAfter = (until: Millis): Millis => until + 2 * CLOCK_SKEW;

/** Whether the jobs of a lease may be handed out again (D3). */
export const isFree = ({ until }: Pick<Lease, 'until'>, now: Millis): boolean => until === 0 || freeAfter(until) < now;

/** Whether a list in this status hands out jobs. */
export const handsOut = ({ status }: Pick<List, 'status'>): boolean => status === 'open' || status === 'sealed';

export const freshOf = ({ total, head }: Pick<List, 'total' | 'head'>): number => total - head;

/** A free lease, for jobs that go back to the pool. */
export const freed = ({ first, count }: Range, { deliveries, isSuspect }: Delivered): Lease => ({
  key: freeKeyOf(first, { deliveries, isSuspect }),
  first,
  count,
  until: 0,
  deliveries,
  isSuspect,
});

/** A lease of a claim. @param place its place among the leases of the claim */
export const leased = (
  claim: ClaimKey,
  place: number,
  { first, count, deliveries, isSuspect }: Range & Delivered,
  until: Millis,
): Lease => ({
  key: leaseKeyOf(claim, place, { deliveries, isSuspect }),
  claim,
  first,
  count,
  until,
  deliveries,
  isSuspect,
});

/** Number of claims in the list's row that still have their jobs. */
export const claimsIn = ({ leases }: Pick<List, 'leases'>, now: Millis): number =>
  new Set(leases.flatMap((lease) => (lease.claim !== undefined && !isFree(lease, now) ? [lease.claim] : []))).size;

/**
 * The claims in a list's row, including expired ones. @param leases all leases of the row
 */
export const claimsOf = ({ leases, holders }: Pick<List, 'leases' | 'holders'>): readonly StoredClaim[] =>
  [...Map.groupBy(leases, ({ claim }) => claim)].flatMap(([key, all]) => {
    const holder = key && holders?.[key];
    return key === undefined ? [] : [{ key, leases: all, ...(holder ? { holder } : {}) }];
  });

/** A claim whose holder is removed from the list's row. */
export interface Gone {
  readonly claim: ClaimKey;
  /** If given, the write succeeds only if this is still the holder. */
  readonly was?: Holder;
}

/** The largest number of leftover holders that one write removes. A write of many leases removes none. */
const LEFTOVERS_MAX = 5;

/**
 * The claims with a holder but without a lease after a change. Some are leftovers: an older release has ended them,
 * which does not know holders, or several claims have taken their leases. A leftover is removed only as it was read,
 * because its claim may have begun again.
 */
export const goneIn = (
  { leases, holders = {} }: Pick<List, 'leases' | 'holders'>,
  from: readonly Pick<Lease, 'key'>[],
  to: readonly Lease[],
): readonly Gone[] => {
  const replaced = new Set(from.map(({ key }) => key));
  const claimsOfAll = (all: readonly Lease[]) => new Set<string | undefined>(all.map(({ claim }) => claim));
  const ending = claimsOfAll(leases.filter(({ key }) => replaced.has(key)));
  const kept = claimsOfAll([...leases.filter(({ key }) => !replaced.has(key)), ...to]);
  const gone = (Object.entries(holders) as [ClaimKey, Holder][]).filter(([claim]) => !kept.has(claim));
  const leftovers = gone.filter(([claim]) => !ending.has(claim)).slice(0, from.length > PIECES_MAX ? 0 : LEFTOVERS_MAX);
  return [
    ...gone.flatMap(([claim]) => (ending.has(claim) ? [{ claim }] : [])),
    ...leftovers.map(([claim, was]) => ({ claim, was })),
  ];
};
