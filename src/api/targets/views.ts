/** A Target as the HTTP API shows it. */
import { isHeld, type Lock } from '../../domain/batches/lock.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { isLimited, leaseOf } from '../../domain/limits/limits.ts';
import type { LockView } from '../../ports/locks.ts';
import type { UnderWaySummary } from '../operations/responses.ts';
import { pauseView } from '../operations/views.ts';
import { iso } from '../shared/iso.ts';
import type { Target as TargetShown } from './responses.ts';

/** The state of a Target beside its lock row. */
export interface TargetSeen {
  readonly inFlight: readonly BatchId[];
  /** Number of waiting tasks, counted up to `limit`. */
  readonly waiting: number;
  readonly limit: number;
  /** Whether its batch is due, and waits for the start of its call. */
  readonly waitsForLimit: boolean;
  readonly underWay: UnderWaySummary | undefined;
  /** Number of failed tasks, if it was counted. */
  readonly failed?: number | undefined;
}

/**
 * Whether a Target's batch is due, and waits for the start of its call under a limit. The end of its lease shows until
 * when the leader slept, without a read of the waiting rows. Briefly true of every batch under a limit. A batch that
 * became full early, and whose start is reserved already, is not recognised before that time.
 */
export const isAtLimit = (lock: Lock, operation: Pick<Operation, 'limits' | 'rateLimit'>, now: Millis): boolean =>
  isLimited(operation) &&
  isHeld(lock, now) &&
  lock.openBatch === undefined &&
  lock.lockedUntil - leaseOf(operation) <= now;

export const targetView = (
  target: Target,
  { lock, first }: LockView,
  { inFlight, waiting, limit, waitsForLimit, underWay, failed }: TargetSeen,
  now: Millis,
): TargetShown => ({
  target,
  operation: operationOf(target),
  waiting,
  ...(waiting === limit ? { waitingIsAtLeast: true } : {}),
  ...(first ? { oldestAt: iso(first.at) } : {}),
  leader: isHeld(lock, now) ? { fence: lock.fence, lockedUntil: iso(lock.lockedUntil) } : null,
  ...(lock.openBatch ? { openBatch: lock.openBatch } : {}),
  ...(lock.paused ? { paused: pauseView(lock.paused) } : {}),
  ...(lock.blocked === undefined ? {} : { blocked: { since: iso(lock.blocked) } }),
  ...(waitsForLimit ? { waitsForLimit } : {}),
  ...(underWay ? { underWay } : {}),
  ...(failed === undefined ? {} : { failed }),
  ...(inFlight.length > 0 ? { inFlight } : {}),
});
