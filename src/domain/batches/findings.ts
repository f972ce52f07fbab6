/**
 * What is stuck: work whose message was lost (a purged queue, dead letters redriven by hand), so that nobody will see to
 * it. As long as the queues keep their messages the rules of section 5 leave nothing stuck.
 */

import type { BatchId, Millis, Target, Token } from '../ids.ts';
import type { Batch, BatchStatus } from './batch.ts';
import type { Lock } from './lock.ts';
import type { Waiting } from './policy.ts';

/** Something that is stuck, and since when nobody saw to it. */
export type Finding = { readonly target: Target; readonly since: Millis } & (
  | {
      /** Tasks wait, and nobody leads: an elect message was lost. */
      readonly finding: 'stranded';
    }
  | {
      /** A leader's lease is over, and its guard did not come. */
      readonly finding: 'expired-lock';
      readonly holder: { readonly fence: number; readonly token: Token };
      /** Whether tasks wait for it. */
      readonly hasWork: boolean;
    }
  | {
      /** A batch was begun, and nobody leads who would finish it. */
      readonly finding: 'leaderless-batch';
      readonly batchId: BatchId;
    }
  | {
      /** A batch should have been called about: its message was lost. */
      readonly finding: 'overdue-batch';
      readonly batchId: BatchId;
    }
  | {
      /** It waits for room in its operation, which does not know of it: an elect message was lost. */
      readonly finding: 'forgotten';
      readonly fence: number;
    }
  | {
      /** A batch is over and still holds its place in the Target: its last message was lost. */
      readonly finding: 'stuck-slot';
      readonly batchId: BatchId;
    }
);

/**
 * What is stuck in a Target's queue.
 *
 * @param first its waiting task whose turn is next.
 * @param grace how long something may be left alone.
 * @param closed whether it may not begin a batch: then what waits waits rightly.
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

/** What nobody sees to once the lease is over, and since then: a leader who is there still has a lease to come. */
const unattended = (target: Target, lock: Lock, first: Waiting | undefined, closed: boolean): Finding | undefined => {
  const { fence, holder, lockedUntil, openBatch, blocked } = lock;
  if (openBatch) return { finding: 'leaderless-batch', target, since: lockedUntil, batchId: openBatch };
  if (holder) {
    // A task that came later brought an elect message of its own.
    const since = Math.max(lockedUntil, first?.at ?? 0);
    const hasWork = first !== undefined && !closed;
    return { finding: 'expired-lock', target, since, holder: { fence, token: holder }, hasWork };
  }
  if (closed) return undefined;
  if (blocked !== undefined) return { finding: 'forgotten', target, since: blocked, fence };
  return first && { finding: 'stranded', target, since: first.at };
};

/** Whether a batch is stuck. @param grace how long it may be overdue, beyond the visibility timeout of its message. */
export const overdue = (batch: Batch, now: Millis, grace: Millis): Finding | undefined => {
  const since = dueSince(batch.status, batch);
  return since !== undefined && since <= now - grace
    ? { finding: 'overdue-batch', target: batch.target, since, batchId: batch.id }
    : undefined;
};

/** Whether a batch that counts as under way is over, or was never stored. @param grace how long its message may be on its way. */
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

/** Since when its next attempt might have begun. One that is forming is its leader's business. */
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
