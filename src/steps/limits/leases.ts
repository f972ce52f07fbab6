/**
 * Ends the leases of calls. If others wait, the same write grants the freed lease to the next of them. A function
 * that dies leaves its leases, which end by themselves.
 */
import type { Millis } from '../../domain/ids.ts';
import { type Bucket, type Grant, withLeaseUntil, withoutLease, withUsage } from '../../domain/limits/bucket.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import type { LeadDeps } from '../deps.ts';
import { replace } from './change.ts';
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
 * Counts what a call really used, and ends its lease.
 *
 * @param used the weight of the call as the downstream reported it.
 */
export const countUse = async (deps: LeadDeps, { bucket, weight }: Grant, used: number): Promise<void> => {
  if (used !== weight) await update(deps, bucket, (stored) => withUsage(stored, used - weight, deps.buckets.now()));
};

/** Changes a bucket, and does not write it if nothing changes. */
const update = async (deps: LeadDeps, id: BucketId, change: (bucket: Bucket) => Bucket): Promise<void> => {
  for (let seen: Bucket | undefined = await deps.buckets.read(id); seen; ) {
    const next = change(seen);
    if (next === seen) return;
    seen = await replace(deps, id, seen, next);
  }
};
