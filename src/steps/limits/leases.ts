/**
 * The leases of calls, and what calls used. If others wait when a lease ends, the same write grants it to the next of
 * them. A function that dies leaves its leases, which end by themselves.
 */
import type { Millis } from '../../domain/ids.ts';
import { type Bucket, type Grant, withLeaseUntil, withoutLease, withUsage } from '../../domain/limits/bucket.ts';
import type { LeadDeps } from '../deps.ts';
import { update } from './change.ts';
import { grantWith } from './grant.ts';

export const endLeases = async (deps: LeadDeps, grants: readonly Grant[]): Promise<void> => {
  for (const { bucket, lease } of grants)
    if (lease !== undefined) await grantWith(deps, bucket, (stored) => withoutLease(stored, lease));
};

/** Moves the end of leases: a job that reports later counts until its deadline. */
export const keepLeases = async (deps: LeadDeps, grants: readonly Grant[], until: Millis): Promise<void> => {
  for (const { bucket, lease } of grants)
    if (lease !== undefined) await update(deps, bucket, (stored) => withLeaseUntil(stored, lease, until));
};

/**
 * Counts what a call really used. If it used less than was granted, the same write grants the rest to waiting calls.
 *
 * @param used the weight of the call as the downstream reported it.
 */
export const countUse = async (deps: LeadDeps, { bucket, weight, at }: Grant, used: number): Promise<void> => {
  const counted = (stored: Bucket): Bucket => withUsage(stored, used - weight, at, deps.buckets.now());
  if (used < weight) await grantWith(deps, bucket, counted);
  else if (used > weight) await update(deps, bucket, counted);
};
