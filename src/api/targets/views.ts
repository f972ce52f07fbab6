/** A Target as the HTTP API shows it. */
import { isHeld } from '../../domain/batches/lock.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../../domain/ids.ts';
import type { LockView } from '../../ports/locks.ts';
import { pauseView } from '../operations/views.ts';
import { iso } from '../shared/iso.ts';
import type { Target as TargetShown } from './responses.ts';

/** @param waiting the number of waiting tasks, counted up to `limit`. */
export const targetView = (
  target: Target,
  { lock, first }: LockView,
  inFlight: readonly BatchId[],
  waiting: number,
  limit: number,
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
  ...(inFlight.length > 0 ? { inFlight } : {}),
});
