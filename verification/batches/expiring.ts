/**
 * What DynamoDB's time to live does: tasks and batches that ended a while ago are deleted, and their ids may be used again. Rows that
 * were left behind, such as a waiting row, stay.
 */
import { isFinished } from '../../src/domain/batches/batch.ts';
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { payloadKey, type Tables } from '../../src/memory/tables.ts';
import type { Seen } from './invariants.ts';
import type { CallLog } from './simulated-downstream.ts';

/** What is known of tasks and batches beside the tables, for those who judge in the end. */
interface Known {
  readonly log: CallLog;
  readonly seen: Seen;
  readonly told: CallbackMessage[];
  readonly redriven: { readonly id: TaskId }[];
}

const endedBy = ({ state }: Task, moment: Millis): boolean => 'finishedAt' in state && state.finishedAt <= moment;

/**
 * Deletes what had ended at `moment`, and what is known of it: who judges later knows the tasks that use the ids again.
 *
 * @returns the tasks that are gone.
 */
export const expire = (tables: Tables, known: Known, moment: Millis): ReadonlySet<TaskId> => {
  const tasks = new Map([...tables.tasks].filter(([, task]) => endedBy(task, moment)));
  for (const [id, task] of tasks) {
    tables.tasks.delete(id);
    tables.payloads.delete(id);
    tables.payloads.delete(payloadKey(task));
    known.log.tried.delete(id);
  }
  for (const [id, batch] of tables.batches)
    if (isFinished(batch.status) && (batch.finishedAt ?? 0) <= moment) tables.batches.delete(id);
  const { log, seen, told, redriven } = known;
  keepOnly(log.calls, ({ call }) => tables.batches.has(call.batchId));
  keepOnly(log.reports, ({ batchId }) => tables.batches.has(batchId));
  keepOnly(seen.settled, ({ id }) => !tasks.has(id));
  keepOnly(redriven, ({ id }) => !tasks.has(id));
  keepOnly(told, ({ event }) => !tasks.has((JSON.parse(event) as { readonly subject: TaskId }).subject));
  return new Set(tasks.keys());
};

const keepOnly = <T>(list: T[], isKept: (each: T) => boolean): void => {
  list.splice(0, list.length, ...list.filter(isKept));
};
