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
  /** Who has a claim, by the key of the claim's first lease. Undefined if an older release opened the list. */
  readonly holders?: Readonly<Record<LeaseKey, Holder>>;
  readonly apart?: Apart;
}

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
/** With this number of leases in the list's row, new claims take free ranges or get a row of their own. */
const LEASES_MAX = CLAIMS_MAX + 2 * PIECES_MAX;
/**
 * Numbers of free ranges in the list's row, for its largest number of claims. Every write of the row writes all of them.
 *
 * - `first`: with this many, claims take them before fresh jobs.
 * - `merged`: with this many, a claim first merges neighbours.
 * - `saved`: a merge that saves fewer is not worth its write.
 */
const freeLimits = (claimsMax: number) => ({
  first: Math.max(2, claimsMax / 4),
  merged: Math.max(3, claimsMax / 2),
  saved: Math.max(1, claimsMax / 16),
});
/** The largest number of jobs in a merged range, done jobs included, so that few nodes of the tracker are read for it. */
const MERGED_MAX = 10_000;
/**
 * The largest number of leases that one write can check. Each lease needs six of the 300 operators that a condition may
 * have.
 */
const SEEN_MAX = 40;

/** The end of a lease. Leases are stored in whole seconds. */
export const leaseEnd = (now: Millis, span: Millis): Millis => Math.ceil((now + span) / SECOND) * SECOND;

/**
 * When the jobs of a lease may be handed out again (D3). The clocks of the function that granted the lease and of its
 * worker may both be wrong by `CLOCK_SKEW`.
 */
export const freeAfter = (until: Millis): Millis => until + 2 * CLOCK_SKEW;

/** Whether the jobs of a lease may be handed out again (D3). */
export const isFree = ({ until }: Pick<Lease, 'until'>, now: Millis): boolean => until === 0 || freeAfter(until) < now;

export const endOf = ({ first, count }: Range): number => first + count;

/** Whether a list in this status hands out jobs. */
export const handsOut = ({ status }: Pick<List, 'status'>): boolean => status === 'open' || status === 'sealed';

export const freshOf = ({ total, head }: Pick<List, 'total' | 'head'>): number => total - head;

/** Jobs that were never handed out. */
const NEW: Delivered = { deliveries: 0, isSuspect: false };

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

/** The deliveries of jobs whose lease ended without a report, or that are free: they become suspect by the first. */
export const endedOf = ({ claim, deliveries, isSuspect }: Lease): Delivered => ({
  deliveries,
  isSuspect: isSuspect || claim !== undefined,
});

/**
 * D10. The deliveries of jobs whose lease ended without a report, and which cannot be claimed any more. If they were not
 * alone in their last delivery, any of them may be the cause, so each gets another one alone. Only with a single allowed
 * delivery none is repeated. @param together number of jobs of the claim that are not done
 */
export const unreportedOf = (lease: Lease, together: number, maxDeliveries: number): Delivered => {
  const { deliveries } = endedOf(lease);
  const isRepeated = together > 1 && maxDeliveries > 1;
  return { deliveries: isRepeated ? Math.min(deliveries, maxDeliveries - 1) : deliveries, isSuspect: true };
};

/** The next delivery of free jobs. */
const nextOf = (delivered: Delivered): Delivered => ({ ...delivered, deliveries: delivered.deliveries + 1 });

/** Number of claims in the list's row that still have their jobs. */
export const claimsIn = ({ leases }: Pick<List, 'leases'>, now: Millis): number =>
  new Set(leases.flatMap((lease) => (lease.claim !== undefined && !isFree(lease, now) ? [lease.claim] : []))).size;

/**
 * The claims in a list's row, including expired ones. @param leases all leases of the row
 */
export const claimsOf = ({ leases, holders }: Pick<List, 'leases' | 'holders'>): readonly StoredClaim[] =>
  [...Map.groupBy(leases, ({ claim }) => claim)].flatMap(([key, all]) => {
    const holder = all.flatMap((lease) => holders?.[lease.key] ?? [])[0];
    return key === undefined ? [] : [{ key, leases: all, ...(holder ? { holder } : {}) }];
  });

/** The settings of a list's claims. */
export interface ClaimRules {
  readonly maxDeliveries: number;
  /** The largest number of claims in the list's row. */
  readonly claimsMax: number;
  /**
   * A number from 0 to 1 that chooses where a claim begins to take free ranges. It is 0 at first, and random after
   * another claim was faster, so that workers that claim at the same moment do not take the same ranges again.
   */
  readonly spread: number;
}

/** How a claim gets jobs. */
export type ClaimPlan =
  /** The list's row already has leases of this claim. */
  | { readonly do: 'again'; readonly leases: readonly Lease[] }
  /** Free jobs were delivered as often as allowed (D10). They fail before any other job is handed out. */
  | { readonly do: 'fail'; readonly leases: readonly Lease[] }
  /** The claim takes fresh jobs and some of these free ranges, without the jobs that are done. */
  | ({ readonly do: 'take' } & Candidates)
  | { readonly do: 'none' | 'refuse' };

interface Candidates {
  /** Number of jobs that were never handed out (D2). */
  readonly fresh: number;
  /** Free ranges and expired leases (D3), in the order in which they are taken. */
  readonly from: readonly Lease[];
  /** The largest number of jobs that the claim may get. */
  readonly most: number;
  /** Whether the free ranges are taken before the fresh jobs. */
  readonly isFreeFirst: boolean;
  /** Whether the claim gets a row of its own (D13). */
  readonly isApart: boolean;
}

export const planClaim = (list: List, key: ClaimKey, count: number, now: Millis, rules: ClaimRules): ClaimPlan => {
  const mine = list.leases.filter(({ claim }) => claim === key);
  if (mine.length > 0) return { do: 'again', leases: mine };
  if (!handsOut(list)) return { do: 'refuse' };
  const free = list.leases.filter((lease) => isFree(lease, now));
  const spent = free.filter(({ deliveries }) => deliveries >= rules.maxDeliveries);
  if (spent.length > 0) return { do: 'fail', leases: spent.slice(0, PIECES_MAX) };
  const fresh = freshOf(list);
  if (free.length === 0 && fresh === 0) return { do: 'none' };
  const isApart = claimsIn(list, now) >= rules.claimsMax || list.leases.length - free.length >= LEASES_MAX;
  return { do: 'take', ...candidates(free, fresh, count, rules), isApart };
};

/**
 * D11. Fresh jobs come before jobs that were given back, so that a job that fails each time does not hold up the
 * others. But if there are many free ranges, they come first. Suspect jobs are never mixed with others.
 */
const candidates = (
  free: readonly Lease[],
  fresh: number,
  count: number,
  { maxDeliveries, claimsMax, spread }: ClaimRules,
): Omit<Candidates, 'isApart'> => {
  const fewest = spreadOut(free, spread);
  const known = fewest.filter((lease) => !endedOf(lease).isSuspect);
  const isFreeFirst = free.length >= freeLimits(claimsMax).first || fresh === 0;
  const [suspect] = fewest;
  if (suspect && isFreeFirst && known.length === 0) {
    const from = fewest.filter(({ deliveries }) => deliveries === suspect.deliveries).slice(0, PIECES_MAX);
    return { fresh: 0, from, most: isolated(count, suspect.deliveries, maxDeliveries), isFreeFirst };
  }
  return {
    fresh: Math.min(fresh, count),
    // One of the claim's leases may be needed for fresh jobs.
    from: !isFreeFirst && fresh >= count ? [] : known.slice(0, PIECES_MAX - 1),
    most: count,
    isFreeFirst,
  };
};

/** Free leases with the fewest deliveries first. @param spread as in {@link ClaimRules} */
const spreadOut = (free: readonly Lease[], spread: number): readonly Lease[] => {
  const fewest = [...free].sort((a, b) => a.deliveries - b.deliveries);
  const equal = fewest.filter(({ deliveries }) => deliveries === fewest[0]?.deliveries).length;
  const begin = Math.min(Math.floor(spread * equal), Math.max(0, equal - 1));
  return [...fewest.slice(begin, equal), ...fewest.slice(0, begin), ...fewest.slice(equal)];
};

/**
 * D10. How many suspect jobs one claim gets after some deliveries: fewer each time, so that a job that ends its worker
 * is alone in its last delivery, and no other job fails with it.
 */
export const isolated = (count: number, deliveries: number, maxDeliveries: number): number => {
  const left = maxDeliveries - 1 - deliveries;
  return left <= 0 ? 1 : Math.ceil(count ** (left / (maxDeliveries - 1)));
};

/** Jobs of a free lease that are not done. */
export interface OpenIn {
  readonly lease: Lease;
  readonly open: readonly Range[];
}

/** What a claim or trigger takes. */
interface Taking {
  readonly ranges: readonly Range[];
  /** The free leases that are replaced. */
  readonly from: readonly Lease[];
  /** The part of the last of these leases that stays free. */
  readonly rest?: Lease;
  readonly fresh: number;
}

export interface ClaimTaking extends Omit<Taking, 'ranges'> {
  /** The leases of the claim. */
  readonly to: readonly Lease[];
}

/**
 * Plans the leases of a claim (D2, D3). Within a free lease, the claim gets one range from the first to the last job
 * that is not done. @param opened the candidates with their open jobs, in the same order
 */
export const planTake = (
  { head }: Pick<List, 'head'>,
  { fresh, most, isFreeFirst }: Candidates,
  opened: readonly OpenIn[],
  key: ClaimKey,
  until: Millis,
): ClaimTaking => {
  const given = fromFree(opened, isFreeFirst ? most : most - fresh);
  const taken = isFreeFirst ? Math.min(fresh, most - given.count) : fresh;
  const ranges = [...given.pieces, ...(taken > 0 ? [{ first: head, count: taken, ...nextOf(NEW) }] : [])];
  return {
    from: given.from,
    fresh: taken,
    to: ranges.map((range, place) => leased(key, place, range, until)),
    ...(given.rest ? { rest: given.rest } : {}),
  };
};

/** Takes up to `wanted` open jobs from free leases. */
const fromFree = (opened: readonly OpenIn[], wanted: number) => {
  const from: Lease[] = [];
  const pieces: (Range & Delivered)[] = [];
  let [count, rest]: [number, Lease | undefined] = [0, undefined];
  for (const { lease, open } of opened) {
    if (count >= wanted) break;
    const taken = partOf(open, 0, wanted - count);
    const [first, last] = [taken[0], taken.at(-1)];
    from.push(lease);
    if (!first || !last) continue;
    count += countOf(taken);
    pieces.push({ first: first.first, count: endOf(last) - first.first, ...nextOf(endedOf(lease)) });
    if (countOf(open) > countOf(taken)) rest = restOf(endOf(last), lease);
  }
  return { from, pieces, count, rest };
};

/** The part of a free lease from job `first` on. */
const restOf = (first: number, lease: Lease): Lease | undefined =>
  first < endOf(lease) ? freed({ first, count: endOf(lease) - first }, endedOf(lease)) : undefined;

/** What a trigger hands out: first jobs that were given back or whose lease has ended, then fresh jobs. */
export type TriggerPlan = Taking;

/** The free leases that a trigger uses besides fresh jobs: as many as one write can check. */
export const freeToTrigger = ({ leases }: List, now: Millis): readonly Lease[] =>
  leases.filter((lease) => isFree(lease, now)).slice(0, SEEN_MAX);

/**
 * Plans a trigger of `count` jobs (D7), or of all jobs that are left if there are fewer. @param free leases, each with
 * its jobs that are not done; only these are handed out
 */
export const planTrigger = (list: List, count: number, free: readonly OpenIn[]): TriggerPlan => {
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
  // If the free leases sufficed, a part of the last one may be left.
  const rest = wanted === 0 && lease && range ? restOf(endOf(range), lease) : undefined;
  return {
    from,
    fresh,
    ranges: fresh > 0 ? [...ranges, { first: list.head, count: fresh }] : ranges,
    ...(rest ? { rest } : {}),
  };
};

/** Neighbouring free ranges that one range may replace, and the jobs between them. */
export interface Neighbours {
  readonly leases: readonly [Lease, ...Lease[]];
  readonly gaps: readonly Range[];
}

/** D11. Whether a list has so many free ranges that neighbours are to be merged. */
export const hasManyFree = ({ leases }: Pick<List, 'leases'>, claimsMax: number): boolean =>
  leases.filter(({ claim }) => claim === undefined).length >= freeLimits(claimsMax).merged;

/**
 * D11. Free ranges with the same deliveries, with no lease of the row between them. They may become one range if all
 * jobs between them are done. @returns as many as one write can check
 */
export const neighboursIn = (list: Pick<List, 'leases'>): readonly Neighbours[] => {
  const all: Neighbours[] = [];
  let before: Lease | undefined;
  for (const lease of list.leases) {
    const last = all.at(-1);
    const begin = last?.leases[0];
    const isNext =
      last !== undefined &&
      begin !== undefined &&
      before !== undefined &&
      before === last.leases.at(-1) &&
      lease.claim === undefined &&
      lease.deliveries === begin.deliveries &&
      lease.isSuspect === begin.isSuspect &&
      last.leases.length < SEEN_MAX &&
      endOf(lease) - begin.first <= MERGED_MAX;
    if (isNext) {
      const gap = { first: endOf(before as Lease), count: lease.first - endOf(before as Lease) };
      all[all.length - 1] = { leases: [...last.leases, lease], gaps: [...last.gaps, ...(gap.count > 0 ? [gap] : [])] };
    } else if (lease.claim === undefined) all.push({ leases: [lease], gaps: [] });
    before = lease;
  }
  let seen = 0;
  return all.filter(({ leases }) => {
    if (leases.length < 2 || seen + leases.length > SEEN_MAX) return false;
    seen += leases.length;
    return true;
  });
};

/** D11. What merging these neighbours changes. Undefined if it saves too few ranges. */
export const planMerge = (
  all: readonly Neighbours[],
  isDone: (token: number) => boolean,
  claimsMax: number,
): { readonly from: readonly Lease[]; readonly to: readonly Lease[] } | undefined => {
  const fit = all.filter(({ gaps }) => gaps.every((gap) => tokensOf(gap).every(isDone)));
  const from = fit.flatMap(({ leases }) => leases);
  if (from.length - fit.length < freeLimits(claimsMax).saved) return undefined;
  const to = fit.map(({ leases: [first, ...rest] }) =>
    freed({ first: first.first, count: endOf(rest.at(-1) ?? first) - first.first }, first),
  );
  return { from, to };
};

/** A worker that releases its claim reports the jobs that it has begun. Undefined if it does not say which. */
export type Attempted = ReadonlySet<number> | undefined;

/** The largest number of free ranges into which one release divides the leases of a claim. */
const PARTS_MAX = SEEN_MAX;

/**
 * D6, D10. The free ranges of a released lease. A delivery counts only for the jobs that the worker has begun; without
 * that report it counts for all of them, and they are suspect. Done jobs may lie inside a range.
 *
 * @param open its jobs that are not done, in their order @param unreported as in {@link unreportedOf}
 * @param leases number of leases of the claim
 */
export const releasedOf = (
  lease: Lease,
  open: readonly number[],
  attempted: Attempted,
  unreported: Delivered,
  leases = 1,
): readonly Lease[] => {
  const partsMax = Math.max(1, Math.floor(PARTS_MAX / leases));
  const deliveredOf = (token: number): Delivered => {
    if (!attempted) return unreported;
    if (attempted.has(token)) return { deliveries: lease.deliveries, isSuspect: false };
    const deliveries = lease.deliveries - 1;
    return { deliveries, isSuspect: lease.isSuspect && deliveries > 0 };
  };
  const parts: (Range & Delivered)[] = [];
  for (const token of open) {
    const delivered = deliveredOf(token);
    const last = parts.at(-1);
    if (last && last.deliveries === delivered.deliveries && last.isSuspect === delivered.isSuspect)
      parts[parts.length - 1] = { ...last, count: token + 1 - last.first };
    else parts.push({ first: token, count: 1, ...delivered });
  }
  const [first, last] = [parts[0], parts.at(-1)];
  if (!first || !last) return [];
  if (parts.length <= partsMax) return parts.map((part) => freed(part, part));
  // The jobs that the worker has not begun count: for them this was no delivery.
  const fewest = parts.reduce((a, b) => (b.deliveries < a.deliveries ? b : a));
  return [freed({ first: first.first, count: endOf(last) - first.first }, fewest)];
};

/** A range without some of its jobs. */
export const without = (range: Range, done: Pick<ReadonlySet<number>, 'has'>): readonly Range[] =>
  rangesOf(tokensOf(range).filter((token) => !done.has(token)));

/** The ranges that jobs form. @param tokens in ascending order */
export const rangesOf = (tokens: readonly number[]): readonly Range[] => {
  const ranges: Range[] = [];
  for (const token of tokens) {
    const last = ranges.at(-1);
    if (last && endOf(last) === token) ranges[ranges.length - 1] = { ...last, count: last.count + 1 };
    else ranges.push({ first: token, count: 1 });
  }
  return ranges;
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
