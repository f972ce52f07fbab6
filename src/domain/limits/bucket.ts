/**
 * A bucket: the state of one limit, or of one key of a limit. Pure.
 *
 * - The line decides when calls may start (line.ts).
 * - A *lease* counts a call as in progress. It ends when the attempt ends, or by itself at `until`.
 * - Targets and sealed batches that find no moment near enough wait in the bucket's queue (queue.ts). While any wait, one
 *   chain of messages grants them moments ahead of time. `granter` names the chain's next message.
 *
 * All functions change the row as a whole, on condition that `turn` is as read.
 */
import type { Millis, Token } from '../ids.ts';
import type { BucketId } from './bucket-id.ts';
import { type Line, latenessOf, lineUnder, nextStart, type Pace, type Starts, withStart, withUse } from './line.ts';

/** What a limit allows. */
export interface Allowance extends Pace {
  /** Most calls in progress at once, and most weight of these calls. Null for any number. */
  readonly concurrency: { readonly calls: number | null; readonly weight: number | null };
}

/** A call in progress. */
export interface Lease {
  readonly id: string;
  readonly weight: number;
  /** When it ends unless its attempt ends earlier. */
  readonly until: Millis;
}

/** The chain of messages that grants moments to waiting calls. */
export interface Granter {
  /** The id of the chain's next message. */
  readonly id: Token;
  /** When that message is due. */
  readonly at: Millis;
}

/** The granter's last write. If its function died before it sent the grants, its message is delivered again. */
export interface LastGrant {
  /** The id of the message that the function handled. */
  readonly id: Token;
  /** The rows that were passed before this write. */
  readonly from: Passed;
}

export interface Bucket {
  /** Grows by one with each write. 0 if there is no row. */
  readonly turn: number;
  /** The function that made the last write. It recognises its own write by this if the answer was lost. */
  readonly by?: Token;
  readonly line?: Line;
  readonly leases: readonly Lease[];
  /** The segment of the queue up to which rows may be granted. It grows with each write of the granter. */
  readonly segment: number;
  /** The last row of each class that was granted. */
  readonly passed: Passed;
  /** Absent if no Target or batch waits. */
  readonly granter?: Granter;
  readonly last?: LastGrant;
  /** The leaders that were granted a moment last, at most {@link RECENT}. A second row of theirs is void. */
  readonly recent?: readonly string[];
}

/** Leaders that were granted a moment and are remembered. */
export const RECENT = 10;

/** The last granted rows: of batches that called before, and of new batches. Empty texts at first. */
export interface Passed {
  readonly again: string;
  readonly fresh: string;
}

export const NEW_BUCKET: Bucket = { turn: 0, leases: [], segment: 0, passed: { again: '', fresh: '' } };

/** A moment that one call was granted. */
export interface Grant {
  readonly bucket: BucketId;
  readonly at: Millis;
  /** The line in which it was granted: {@link Line.since}. */
  readonly line: Millis;
  readonly weight: number;
  /** The lease of the call, if the limit counts calls in progress. */
  readonly lease?: string;
}

const inEffect = (leases: readonly Lease[], now: Millis): readonly Lease[] => leases.filter(({ until }) => until > now);

/** The calls in progress, and their weight. */
export const underWay = ({ leases }: Pick<Bucket, 'leases'>, now: Millis): Omit<Starts, 'at'> =>
  inEffect(leases, now).reduce((sum, each) => ({ calls: sum.calls + 1, weight: sum.weight + each.weight }), {
    calls: 0,
    weight: 0,
  });

/** Whether calls under this allowance have leases. */
export const hasLeases = ({ concurrency }: Allowance): boolean =>
  concurrency.calls !== null || concurrency.weight !== null;

/**
 * When a call of this weight may begin as far as the calls in progress determine that: `now`, or the end of the lease that
 * must end first. That lease may be given back earlier.
 */
const freeFrom = ({ leases }: Bucket, { concurrency }: Allowance, weight: number, now: Millis): Millis => {
  const { calls, weight: most } = concurrency;
  const own = most === null ? 0 : Math.min(weight, most);
  const ends = inEffect(leases, now).toSorted((a, b) => a.until - b.until);
  let sums = underWay({ leases }, now);
  let from = now;
  for (const end of ends) {
    if ((calls === null || sums.calls + 1 <= calls) && (most === null || sums.weight + own <= most)) break;
    sums = { calls: sums.calls - 1, weight: sums.weight - end.weight };
    from = end.until;
  }
  return from;
};

/** Whether the weight of calls matters under this allowance. */
export const countsWeight = ({ weight, concurrency }: Allowance): boolean =>
  weight !== null || concurrency.weight !== null;

/** When a call with these moments starts. */
export const startOf = (grants: readonly Pick<Grant, 'at'>[]): Millis => Math.max(...grants.map(({ at }) => at));

/** When a call may start at the earliest. `full`: first a call in progress must end, at the latest at `at`. */
export type Chance = { readonly is: 'free' | 'full'; readonly at: Millis };

/** A call for which a moment is asked. */
export interface Asked {
  readonly bucket: BucketId;
  readonly allows: Allowance;
  readonly weight: number;
}

/** @param earliest the call cannot start before this moment. */
export const chanceIn = (bucket: Bucket, { allows, weight }: Asked, now: Millis, earliest: Millis = now): Chance => {
  const from = hasLeases(allows) ? freeFrom(bucket, allows, weight, now) : now;
  if (from > now) return { is: 'full', at: from };
  return { is: 'free', at: nextStart(lineUnder(bucket.line, allows, now), weight, Math.max(now, earliest)) };
};

/** A granted moment, and the bucket after it was granted. */
export interface Granted {
  readonly bucket: Bucket;
  readonly grant: Grant;
}

/** Whether a new line began with a write, because the limit has changed. */
export const beganLine = (before: Bucket, after: Bucket): boolean =>
  before.line !== undefined && before.line.since !== after.line?.since;

/**
 * Grants a moment. If a new line begins, the granter's next step is due now: it was planned for the old one.
 *
 * @param at at least the moment that {@link chanceIn} returned.
 * @param lease the call's lease: its id, and when it ends unless the attempt ends earlier.
 */
export const granted = (
  bucket: Bucket,
  { bucket: name, allows, weight }: Asked,
  at: Millis,
  lease: Omit<Lease, 'weight'>,
  now: Millis,
): Granted => {
  const line = withStart(lineUnder(bucket.line, allows, now), weight, at);
  const own = hasLeases(allows) ? { ...lease, weight } : undefined;
  const next = { ...bucket, line, leases: [...inEffect(bucket.leases, now), ...(own ? [own] : [])] };
  const { granter } = bucket;
  return {
    bucket: granter && beganLine(bucket, next) ? { ...next, granter: { ...granter, at: now } } : next,
    grant: { bucket: name, at, line: line.since, weight, ...(own ? { lease: own.id } : {}) },
  };
};

/** Whether a granted moment has not lapsed, its line still applies, and its lease has not ended. */
export const isValid = ({ at, line, lease }: Grant, bucket: Bucket, allows: Allowance, now: Millis): boolean =>
  bucket.line?.since === line &&
  now <= at + latenessOf(bucket.line.pace) &&
  (!hasLeases(allows) || inEffect(bucket.leases, now).some(({ id }) => id === lease));

/** The bucket without a lease. Unchanged if it has no such lease. */
export const withoutLease = (bucket: Bucket, id: string): Bucket =>
  bucket.leases.some((lease) => lease.id === id)
    ? { ...bucket, leases: bucket.leases.filter((lease) => lease.id !== id) }
    : bucket;

/** The bucket whose lease ends at another time. Unchanged if it has no such lease. */
export const withLeaseUntil = (bucket: Bucket, id: string, until: Millis): Bucket =>
  bucket.leases.some((lease) => lease.id === id && lease.until !== until)
    ? { ...bucket, leases: bucket.leases.map((lease) => (lease.id === id ? { ...lease, until } : lease)) }
    : bucket;

/**
 * The bucket after a call used more weight than it was granted, or less if `more` is negative. Unchanged if its line does
 * not count weight.
 *
 * @param at the moment of the call.
 */
export const withUsage = (bucket: Bucket, more: number, at: Millis, now: Millis): Bucket => {
  const line = bucket.line && withUse(bucket.line, more, at, now);
  return line === undefined || line === bucket.line ? bucket : { ...bucket, line };
};
