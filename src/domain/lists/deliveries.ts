/**
 * D10. How often jobs were handed out, and what the end of a delivery means for the next one. Pure.
 */
import type { Delivered, Range } from './ids.ts';
import { freed, type Lease, type OpenIn, openCount, SEEN_MAX } from './list.ts';
import { isSome, spanOf, tokensOf } from './ranges.ts';

/** The first delivery of jobs that were never handed out. */
export const FIRST: Delivered = { deliveries: 1, isSuspect: false };

/** The deliveries of jobs whose lease ended without a report, or that are free: they become suspect by the first. */
export const endedOf = ({ claim, deliveries, isSuspect }: Lease): Delivered => ({
  deliveries,
  isSuspect: isSuspect || claim !== undefined,
});

/** The next delivery of free jobs. */
export const nextOf = (delivered: Delivered): Delivered => ({ ...delivered, deliveries: delivered.deliveries + 1 });

/**
 * D10. How many suspect jobs one claim gets after some deliveries: fewer each time, so that a job that ends its worker
 * is alone in its last delivery, and no other job fails with it.
 */
export const isolated = (count: number, deliveries: number, maxDeliveries: number): number => {
  const left = maxDeliveries - 1 - deliveries;
  return left <= 0 ? 1 : Math.ceil(count ** (left / (maxDeliveries - 1)));
};

/** The delivery does not count for jobs of a lease that no worker has begun. */
export const unbegunOf = (lease: Lease): Delivered => {
  const deliveries = lease.deliveries - 1;
  return { deliveries, isSuspect: lease.isSuspect && deliveries > 0 };
};

/**
 * D10. The deliveries of jobs whose lease ended without a report, and which cannot be claimed any more. If they were not
 * alone in their last delivery, any of them may be the cause, so each gets another one alone. Only with a single allowed
 * delivery none is repeated. @param together number of jobs of the claim that are not done
 */
export const unreportedOf = (lease: Lease, together: number, maxDeliveries: number): Delivered => {
  const { deliveries } = lease;
  const isRepeated = together > 1 && maxDeliveries > 1;
  return { deliveries: isRepeated ? Math.min(deliveries, maxDeliveries - 1) : deliveries, isSuspect: true };
};

/**
 * D10, D12. The free ranges of a claim that ended without a report: its worker died, the claim was broken, or its release
 * did not name the jobs that were begun. @param claim all of its leases
 */
export const unreported = (claim: readonly OpenIn[], maxDeliveries: number): readonly Lease[] => {
  const together = openCount(claim);
  return claim.flatMap(({ lease, open }) =>
    isSome(open) ? [freed(spanOf(open), unreportedOf(lease, together, maxDeliveries))] : [],
  );
};

/** The largest number of free ranges into which one release divides the leases of a claim. */
const PARTS_MAX = SEEN_MAX;

/**
 * D6, D10. The free ranges of a released lease. The delivery counts only for the jobs that the worker has begun. Done
 * jobs may lie inside a range. @param leases number of leases of the claim
 */
export const releasedOf = ({ lease, open }: OpenIn, begun: ReadonlySet<number>, leases: number): readonly Lease[] => {
  const partsMax = Math.max(1, Math.floor(PARTS_MAX / leases));
  const parts: (Range & Delivered)[] = [];
  for (const token of open.flatMap(tokensOf)) {
    const delivered = begun.has(token) ? { deliveries: lease.deliveries, isSuspect: false } : unbegunOf(lease);
    const last = parts.at(-1);
    if (last && last.deliveries === delivered.deliveries && last.isSuspect === delivered.isSuspect)
      parts[parts.length - 1] = { ...last, count: token + 1 - last.first };
    else parts.push({ first: token, count: 1, ...delivered });
  }
  if (!isSome(parts) || parts.length <= partsMax) return parts.map((part) => freed(part, part));
  // The jobs that the worker has not begun count: for them this was no delivery.
  const fewest = parts.reduce((a, b) => (b.deliveries < a.deliveries ? b : a));
  return [freed(spanOf(parts), fewest)];
};
