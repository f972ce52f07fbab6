/**
 * Which stuck work the patrol and the doctor find: work whose message was lost, for example with a purged queue or with
 * dead letters that a person redrove. As long as the queues keep their messages, the algorithm leaves nothing stuck.
 */

import type { BatchId, Millis, Target, Token } from '../ids.ts';
import type { Batch, BatchStatus } from './batch.ts';
import type { Lock } from './lock.ts';
import type { Waiting } from './policy.ts';

/** Something that is stuck, and since when. */
export type Finding = { readonly target: Target; readonly since: Millis } & (
  | {
      /** Tasks wait, and the Target has no leader: an elect message was lost. */
      readonly finding: 'stranded';
    }
  | {
      /** A leader's lease has ended, and its guard message did not arrive. */
      readonly finding: 'expired-lock';
      readonly holder: { readonly fence: number; readonly token: Token };
      /** Whether the Target has waiting tasks for which a batch may begin. */
      readonly hasWork: boolean;
    }
  | {
      /** A batch is open, and the Target has no leader to finish it. */
      readonly finding: 'leaderless-batch';
      readonly batchId: BatchId;
    }
  | {
      /** The batch's next attempt is overdue: its message was lost. */
      readonly finding: 'overdue-batch';
      readonly batchId: BatchId;
    }
  | {
      /** The Target is marked as waiting for a free slot, but no message will wake it: an elect message was lost. */
      readonly finding: 'forgotten';
      readonly fence: number;
    }
  | {
      /** A batch is finished and still holds its slot in the Target: its last message was lost. */
      readonly finding: 'stuck-slot';
      readonly batchId: BatchId;
    }
);

/**
 * The finding about a Target's queue, if something is stuck.
 *
 * @param first the waiting row that comes first.
 * @param grace how long a state may last before it counts as stuck.
 * @param closed whether the Target may not begin a batch now. Waiting tasks are then no sign of stuck work.
 */
export const findingOf = (
  target: Target,
  lock: Lock,
  first: Waiting | undefined,
  now: Millis,
  grace: Millis,
  closed = false,
): Finding | undefined => {
  const finding = unattended(target, lock, first, closed);
  return finding && finding.since <= now - grace ? finding : undefined;
};

/**
 * The state of a Target that no function will change, and since when it has lasted. Does not consider `grace`. A leader
 * that is alive has a lease that ends in the future.
 */
const unattended = (target: Target, lock: Lock, first: Waiting | undefined, closed: boolean): Finding | undefined => {
  const { fence, holder, lockedUntil, openBatch, blocked } = lock;
  if (openBatch) return { finding: 'leaderless-batch', target, since: lockedUntil, batchId: openBatch };
  if (holder) {
    // A task that was registered after the lease ended has sent an elect message of its own.
    const since = Math.max(lockedUntil, first?.at ?? 0);
    const hasWork = first !== undefined && !closed;
    return { finding: 'expired-lock', target, since, holder: { fence, token: holder }, hasWork };
  }
  if (closed) return undefined;
  if (blocked !== undefined) return { finding: 'forgotten', target, since: blocked, fence };
  return first && { finding: 'stranded', target, since: first.at };
};

/**
 * The finding about a batch, if it is stuck. @param grace how long it may be overdue, beyond the visibility timeout of
 * its message.
 */
export const overdue = (batch: Batch, now: Millis, grace: Millis): Finding | undefined => {
  const since = dueSince(batch.status, batch);
  return since !== undefined && since <= now - grace
    ? { finding: 'overdue-batch', target: batch.target, since, batchId: batch.id }
    : undefined;
};

/**
 * The finding about a batch that holds a slot although it is finished, or was never stored. @param grace how long its
 * message may be delayed.
 */
export const stuckSlot = (
  target: Target,
  batchId: BatchId,
  batch: Batch | undefined,
  now: Millis,
  grace: Millis,
): Finding | undefined => {
  const since = batch === undefined ? 0 : (batch.finishedAt ?? Number.POSITIVE_INFINITY);
  return since <= now - grace ? { finding: 'stuck-slot', target, since, batchId } : undefined;
};

/**
 * The time since which the next attempt could have begun. Undefined for a forming batch, because its leader finishes
 * it.
 */
const dueSince = (status: BatchStatus, batch: Batch): Millis | undefined => {
  switch (status) {
    case 'sealed':
      return batch.sealedAt;
    case 'in-progress':
      return batch.runUntil;
    case 'forming':
    case 'succeeded':
    case 'partly-failed':
    case 'failed':
      return undefined;
  }
};
