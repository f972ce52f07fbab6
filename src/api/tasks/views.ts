/** A task as the HTTP API shows it. */
import type { Batch } from '../../domain/batches/batch.ts';
import { inFull } from '../../domain/downstream/downstream.ts';
import { batchIdIn, hasEnded, optionsOf, runNumber, type Task } from '../../domain/tasks/task.ts';
import { iso } from '../shared/iso.ts';
import type { TaskOutline } from './responses.ts';
import type { WaitsFor } from './waits-for.ts';

/**
 * A task as JSON text. Payload and result are inserted as stored text, so that they stay unchanged byte for byte.
 *
 * @param batch the task's batch, if any. Only the batch stores the status `in-progress`.
 * @param full adds the payload (if stored), the result, and the reason for waiting.
 */
export const printTask = (
  task: Task,
  batch: Batch | undefined,
  full: { readonly payload: string | undefined; readonly waitsFor?: WaitsFor | undefined } | undefined,
): string => {
  const { state } = task;
  const fields: TaskOutline = {
    id: task.id,
    operation: task.operation,
    target: task.target,
    status: state.status === 'batched' && batch?.status === 'in-progress' ? 'in-progress' : state.status,
    batchId: batchIdIn(state),
    attempts: hasEnded(state) ? state.attempts : (batch?.countedAttempts ?? 0),
    // If no function runs the batch, it waits for its next attempt.
    ...(batch?.status === 'in-progress' && batch.startedBy === undefined
      ? { nextAttemptAfter: iso(batch.runUntil) }
      : {}),
    ...(batch?.lastAttempt ? { lastReason: inFull(batch.lastAttempt) } : {}),
    ...(full?.waitsFor ? { waitsFor: full.waitsFor } : {}),
    run: runNumber(task),
    ...optionsOf(task),
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
