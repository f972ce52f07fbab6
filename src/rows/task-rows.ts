/** The Task table's rows (design, section 4). A large payload has a row of its own (docs/decisions/0004). */
import { expiresAt } from '../domain/expiry.ts';
import type { ItemId } from '../domain/fan-out-ids.ts';
import type { BatchId, OperationName, Target, TaskId } from '../domain/ids.ts';
import type { NewTask, Outcome, PayloadToStore, Settlement, Task, TaskState } from '../domain/tasks/task.ts';
import type { FinishingBatch } from '../ports/tasks.ts';
import type { Item } from './item.ts';
import { versionOf } from './row-version.ts';

/** DynamoDB charges for the whole row at every write, in steps of this. */
const WRITE_UNIT_BYTES = 1_024;
/**
 * What claim and finish add to a row: BatchId (up to 100 bytes), Attempts, FinishedAt, ExpiresAt with their names, and
 * a small result.
 */
const ROOM_TO_GROW = 260;

export const taskKey = (id: TaskId): Item => ({ Id: id });
/** `#` is in no task id. The hash keeps an id that is used again, after its first task expired, from the old payload. */
export const payloadKey = ({ id, payloadHash }: Pick<Task, 'id' | 'payloadHash'>): Item => ({
  Id: `${id}#payload#${payloadHash}`,
});

/** Whether a task's payload travels in its own row, so that every write of the task stays at one unit. */
export const isInline = (task: NewTask): boolean => {
  const row = { ...baseRow(task), Payload: task.payload };
  const bytes = Object.entries(row).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(String(value)),
    0,
  );
  return bytes + ROOM_TO_GROW <= WRITE_UNIT_BYTES;
};

const baseRow = (task: NewTask): Item => ({
  Id: task.id,
  Operation: task.operation,
  Target: task.target,
  Status: 'created',
  PayloadHash: task.payloadHash,
  Bytes: task.bytes,
  CreatedAt: task.createdAt,
  Run: task.run,
  Version: versionOf('task'),
  ...(task.correlationId === undefined ? {} : { CorrelationId: task.correlationId }),
  ...(task.priority === undefined ? {} : { Priority: task.priority }),
  ...(task.ahead === undefined ? {} : { Ahead: task.ahead }),
  ...(task.weight === undefined ? {} : { Weight: task.weight }),
  ...(task.coalesceKey === undefined ? {} : { CoalesceKey: task.coalesceKey }),
  ...(task.version === undefined ? {} : { TaskVersion: task.version }),
  ...(task.sentAt === undefined ? {} : { SentAt: task.sentAt }),
  ...(task.mergeKeys === undefined ? {} : { MergeKeys: task.mergeKeys }),
  ...(task.startBy === undefined ? {} : { StartBy: task.startBy }),
  ...(task.callback === undefined ? {} : { Callback: task.callback }),
  ...(task.fanOutItem === undefined ? {} : { FanOutItem: task.fanOutItem }),
});

export const newTaskRow = (task: NewTask): Item => ({
  ...baseRow(task),
  ...(isInline(task) ? { Payload: task.payload } : {}),
});

export const payloadRow = (task: PayloadToStore): Item => ({
  ...payloadKey(task),
  Payload: task.payload,
  CreatedAt: task.createdAt,
  Run: task.run,
  Version: versionOf('payload'),
});

export const taskOf = (row: Item): Task => ({
  id: row.Id as TaskId,
  operation: row.Operation as OperationName,
  target: row.Target as Target,
  payloadHash: row.PayloadHash as string,
  bytes: row.Bytes as number,
  createdAt: row.CreatedAt as number,
  run: row.Run as number,
  payloadApart: row.Payload === undefined,
  ...(row.RedrivenAt === undefined ? {} : { redrivenAt: row.RedrivenAt as number }),
  ...(row.CorrelationId === undefined ? {} : { correlationId: row.CorrelationId as string }),
  ...(row.Priority === undefined ? {} : { priority: row.Priority as number }),
  ...(row.Ahead === undefined ? {} : { ahead: row.Ahead as number }),
  ...(row.Weight === undefined ? {} : { weight: row.Weight as number }),
  ...(row.CoalesceKey === undefined ? {} : { coalesceKey: row.CoalesceKey as string }),
  ...(row.TaskVersion === undefined ? {} : { version: row.TaskVersion as number }),
  ...(row.SentAt === undefined ? {} : { sentAt: row.SentAt as number }),
  ...(row.MergeKeys === undefined ? {} : { mergeKeys: row.MergeKeys as string }),
  ...(row.StartBy === undefined ? {} : { startBy: row.StartBy as number }),
  ...(row.Callback === undefined ? {} : { callback: row.Callback as string }),
  ...(row.FanOutItem === undefined ? {} : { fanOutItem: row.FanOutItem as ItemId }),
  state: stateOf(row),
});

const stateOf = (row: Item): TaskState => {
  const status = row.Status as TaskState['status'];
  const finished = () => ({
    ...(row.BatchId === undefined ? {} : { batchId: row.BatchId as BatchId }),
    attempts: row.Attempts as number,
    finishedAt: row.FinishedAt as number,
  });
  switch (status) {
    case 'created':
      return { status };
    case 'batched':
      return { status, batchId: row.BatchId as BatchId };
    case 'succeeded':
      return {
        status,
        ...finished(),
        ...(row.Result === undefined ? {} : { result: row.Result as string }),
        ...(row.ResultOmitted === undefined ? {} : { resultOmitted: row.ResultOmitted as number }),
        ...(row.SupersededBy === undefined ? {} : { supersededBy: row.SupersededBy as TaskId }),
      };
    case 'failed': {
      const error = row.Error as Item;
      return {
        status,
        ...finished(),
        error: { code: error.Code as string, message: error.Message as string, retriable: error.Retriable as boolean },
      };
    }
  }
};

/** The attributes that a finishing write sets. Failed rows alone get the key of the index FailedByTarget. */
export const finishedFields = (outcome: Outcome, batch: FinishingBatch): Item => ({
  Status: outcome.status,
  Attempts: batch.attempts,
  FinishedAt: batch.at,
  ExpiresAt: expiresAt(batch.at, batch.keep),
  ...(outcome.status === 'failed'
    ? {
        Error: { Code: outcome.error.code, Message: outcome.error.message, Retriable: outcome.error.retriable },
        FailedTarget: batch.target,
      }
    : {
        ...(outcome.result === undefined ? {} : { Result: outcome.result }),
        ...(outcome.resultOmitted === undefined ? {} : { ResultOmitted: outcome.resultOmitted }),
      }),
});

/** The attributes of a write that ends a waiting task. */
export const settledFields = (as: Settlement, { target }: Pick<Task, 'target'>, at: number, expires: number): Item => ({
  Status: as.status,
  Attempts: 0,
  FinishedAt: at,
  ExpiresAt: expires,
  ...(as.status === 'failed'
    ? {
        Error: { Code: as.error.code, Message: as.error.message, Retriable: as.error.retriable },
        FailedTarget: target,
      }
    : { SupersededBy: as.supersededBy }),
});
