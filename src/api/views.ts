/** What the HTTP API shows of tasks, batches and Targets. */
import { type Batch, isPending, membersOf } from '../domain/batches/batch.ts';
import type { Finding } from '../domain/batches/findings.ts';
import { isHeld } from '../domain/batches/lock.ts';
import { inFull } from '../domain/downstream/downstream.ts';
import { type BatchId, type Millis, operationOf, type Target } from '../domain/ids.ts';
import { askedOf, batchIdIn, hasEnded, runNumber, type Task } from '../domain/tasks/task.ts';
import type { Glance } from '../ports/locks.ts';
import type { Skipped, Treated } from '../steps/repair/repair.ts';
import { reasonOf } from '../util/problems.ts';
import { iso } from './iso.ts';
import { pauseView } from './operation-views.ts';
import type { WaitsFor } from './waits-for.ts';

/**
 * A task as JSON text. Payload and result go out as they came in, so they are spliced in rather than parsed.
 *
 * @param batch the task's batch, if it has one: `in-progress` is written there alone.
 * @param full with its payload, if stored, its result, and what it waits for if it does; without it, none of them.
 */
export const printTask = (
  task: Task,
  batch: Batch | undefined,
  full: { readonly payload: string | undefined; readonly waitsFor?: WaitsFor | undefined } | undefined,
): string => {
  const { state } = task;
  const fields = {
    id: task.id,
    operation: task.operation,
    target: task.target,
    status: state.status === 'batched' && batch?.status === 'in-progress' ? 'in-progress' : state.status,
    batchId: batchIdIn(state),
    attempts: hasEnded(state) ? state.attempts : (batch?.tries ?? 0),
    // Between attempts nobody runs the batch.
    ...(batch?.status === 'in-progress' && batch.startedBy === undefined
      ? { nextAttemptAfter: iso(batch.runUntil) }
      : {}),
    ...(batch?.lastAttempt ? { lastReason: inFull(batch.lastAttempt) } : {}),
    ...(full?.waitsFor ? { waitsFor: full.waitsFor } : {}),
    run: runNumber(task),
    ...askedOf(task),
    ...(task.startBy === undefined ? {} : { startBy: iso(task.startBy) }),
    ...(task.sentAt === undefined ? {} : { sentAt: iso(task.sentAt) }),
    createdAt: iso(task.createdAt),
    ...(task.redrivenAt === undefined ? {} : { redrivenAt: iso(task.redrivenAt) }),
    ...(hasEnded(state) ? { finishedAt: iso(state.finishedAt) } : {}),
    ...(state.status === 'failed' ? { error: state.error } : {}),
    ...(state.status === 'succeeded' && state.supersededBy !== undefined ? { supersededBy: state.supersededBy } : {}),
    ...(state.status === 'succeeded' && state.resultOmitted !== undefined
      ? { resultOmitted: { bytes: state.resultOmitted } }
      : {}),
  };
  const raw = full ? { payload: full.payload, result: state.status === 'succeeded' ? state.result : undefined } : {};
  const spliced = Object.entries(raw).map(([name, text]) => (text === undefined ? '' : `,"${name}":${text}`));
  return `${JSON.stringify(fields).slice(0, -1)}${spliced.join('')}}`;
};

export const batchView = (batch: Batch, maxSize: number | undefined) => {
  const members = membersOf(batch);
  return {
    id: batch.id,
    operation: batch.operation,
    target: batch.target,
    status: batch.status,
    sealedBy: batch.sealedBy,
    size: members.length,
    ...(maxSize === undefined ? {} : { fill: members.length / maxSize }),
    attempt: batch.attempt,
    attempts: batch.tries,
    ...(isPending(batch) ? { pending: batch.pending?.ids.length } : {}),
    ...(batch.counts ? { counts: batch.counts } : {}),
    oldestAt: iso(batch.oldestAt),
    createdAt: iso(batch.createdAt),
    ...(batch.sealedAt === undefined ? {} : { sealedAt: iso(batch.sealedAt) }),
    ...(batch.startedAt === undefined ? {} : { startedAt: iso(batch.startedAt) }),
    ...(batch.finishedAt === undefined ? {} : { finishedAt: iso(batch.finishedAt) }),
    ...(batch.lastAttempt
      ? { lastAttempt: { endedAt: iso(batch.lastAttempt.endedAt), reason: inFull(batch.lastAttempt) } }
      : {}),
    ...(batch.status === 'in-progress' ? { nextAttemptAfter: iso(batch.runUntil) } : {}),
  };
};

/** A finding that was only looked at. */
export const findingView = ({ finding, target, since, ...more }: Finding) => ({
  finding,
  operation: operationOf(target),
  target,
  since: iso(since),
  ...('batchId' in more ? { batchId: more.batchId } : {}),
  ...('hasWork' in more ? { tasksWait: more.hasWork } : {}),
});

/** A finding that was to be repaired. One that had changed in the meantime has neither a remedy nor a reason. */
export const treatedView = (treated: Treated) => ({
  ...findingView(treated.finding),
  ...('cause' in treated
    ? { repaired: false, reason: reasonOf(treated.cause) }
    : { repaired: treated.remedy !== undefined, remedy: treated.remedy }),
});

export const skippedView = ({ id, cause }: Skipped) => ({ id, reason: reasonOf(cause) });

/** @param waiting counted up to `limit`. */
export const targetView = (
  target: Target,
  { lock, first }: Glance,
  inFlight: readonly BatchId[],
  waiting: number,
  limit: number,
  now: Millis,
) => ({
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
