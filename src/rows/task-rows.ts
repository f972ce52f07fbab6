/**
 * The rows of the table Task. A large payload has a row of its own, so that the writes of its task stay at one write
 * unit each (docs/decisions/0004).
 */
import { expiresAt } from '../domain/expiry.ts';
import type { BatchId, Target, TaskId } from '../domain/ids.ts';
import {
  COLUMNS,
  type NewTask,
  type Outcome,
  type PayloadToStore,
  type Settlement,
  type Task,
  type TaskError,
  type TaskState,
} from '../domain/tasks/task.ts';
import type { FinishingBatch } from '../ports/tasks.ts';
import { type Attributes, type Item, read, written } from './item.ts';
import { versionOf } from './row-version.ts';

type Columns = Omit<Task, 'payloadApart' | 'state'>;

/** DynamoDB charges each write for the whole row, rounded up to a multiple of this size. */
const WRITE_UNIT_BYTES = 1_024;
/**
 * Bytes that a claim and a result add to a row: BatchId (up to 100 bytes), Attempts, FinishedAt, ExpiresAt with their
 * names, and a small result.
 */
const GROWTH_BYTES = 260;

export const taskKey = (id: TaskId): Item => ({ Id: id });
/**
 * The key of a payload row. `#` is in no task id. The hash keeps a new task from reading the payload of an expired one
 * with the same id.
 */
export const payloadKey = ({ id, payloadHash }: Pick<Task, 'id' | 'payloadHash'>): Item => ({
  Id: `${id}#payload#${payloadHash}`,
});

/**
 * Whether a task's payload is stored in its row. If not, it has a row of its own, so that every write of the task costs
 * one unit.
 */
export const isInline = (task: NewTask): boolean => {
  const row = { ...baseRow(task), Payload: task.payload };
  const bytes = Object.entries(row).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(String(value)),
    0,
  );
  return bytes + GROWTH_BYTES <= WRITE_UNIT_BYTES;
};

const baseRow = (task: NewTask): Item => ({
  ...written<Columns>(COLUMNS, task),
  Status: 'created',
  Version: versionOf('task'),
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
  ...read<Columns>(COLUMNS, row),
  payloadApart: row.Payload === undefined,
  state: stateOf(row),
});

const ERROR: Attributes<TaskError> = { code: 'Code', message: 'Message', retriable: 'Retriable' };
const FINISHED = { batchId: 'BatchId', attempts: 'Attempts', finishedAt: 'FinishedAt' } as const;
type Result = Pick<Succeeded, 'result' | 'resultOmitted'>;
const RESULT = { result: 'Result', resultOmitted: 'ResultOmitted' } as const;
const SUCCEEDED = { ...FINISHED, ...RESULT, supersededBy: 'SupersededBy' } as const;

const stateOf = (row: Item): TaskState => {
  const status = row.Status as TaskState['status'];
  switch (status) {
    case 'created':
      return { status };
    case 'batched':
      return { status, batchId: row.BatchId as BatchId };
    case 'succeeded':
      return { status, ...read<Omit<Succeeded, 'status'>>(SUCCEEDED, row) };
    case 'failed':
      return {
        status,
        ...read<Omit<Failed, 'status' | 'error'>>(FINISHED, row),
        error: read(ERROR, row.Error as Item),
      };
  }
};
type Succeeded = Extract<TaskState, { readonly status: 'succeeded' }>;
type Failed = Extract<TaskState, { readonly status: 'failed' }>;

/** The attributes that the write of a result sets. */
export const finishedFields = (outcome: Outcome, batch: FinishingBatch): Item => ({
  Status: outcome.status,
  Attempts: batch.attempts,
  FinishedAt: batch.at,
  ExpiresAt: expiresAt(batch.at, batch.keep),
  ...(outcome.status === 'failed' ? failedFields(outcome.error, batch.target) : written<Result>(RESULT, outcome)),
});

/** The attributes that the end of a waiting task sets. */
export const settledFields = (as: Settlement, { target }: Pick<Task, 'target'>, at: number, expires: number): Item => ({
  Status: as.status,
  Attempts: 0,
  FinishedAt: at,
  ExpiresAt: expires,
  ...(as.status === 'failed' ? failedFields(as.error, target) : { SupersededBy: as.supersededBy }),
});

/** Only failed rows have the key of the index FailedByTarget. */
const failedFields = (error: TaskError, target: Target): Item => ({
  Error: written(ERROR, error),
  FailedTarget: target,
});
