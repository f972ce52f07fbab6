/** The published tables as its functions see them: in memory for the schedules, on DynamoDB for the benchmark. */
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import type { Outcome } from '../../../src/domain/tasks/task.ts';
import type { Reading } from './reading.ts';

/** Task: by Id, and by Target and Status in the index. */
export interface TaskRow {
  readonly id: TaskId;
  readonly target: Target;
  readonly status: 'created' | 'batched' | 'in-progress' | Outcome['status'];
  readonly payload: string;
  readonly createdAt: Millis;
  readonly batchId?: BatchId;
}

/** Batch: by Id. */
export interface BatchRow {
  readonly id: BatchId;
  readonly target: Target;
  readonly members: readonly TaskId[];
}

/** What the index has of a task. */
export type IndexEntry = Pick<TaskRow, 'id' | 'createdAt'>;

export interface Tables {
  /** Puts a task if its id is free. @returns the one that is stored. */
  insert(task: TaskRow): Promise<TaskRow>;
  /** Takes the lock if it is free, expired or already `holder`'s. */
  acquire(target: Target, holder: string, expiry: Millis): Promise<boolean>;
  /** Removes the lock if it is `holder`'s. */
  release(target: Target, holder: string): Promise<void>;
  /** What the index shows as waiting, oldest first. */
  waiting(target: Target): Promise<readonly IndexEntry[]>;
  /** The same, as a leader asks again and again: in a schedule this never fails. */
  poll(target: Target): Promise<readonly IndexEntry[]>;
  /** Strongly consistent, in the order of the ids. */
  read(ids: readonly TaskId[]): Promise<readonly (TaskRow | undefined)[]>;
  putBatch(batch: BatchRow): Promise<void>;
  /** Strongly consistent. */
  batch(id: BatchId): Promise<BatchRow | undefined>;
  /** Puts tasks into a batch. @returns of each whether it shows that batch now. */
  claim(ids: readonly TaskId[], batch: BatchId): Promise<readonly boolean[]>;
  start(ids: readonly TaskId[], batch: BatchId): Promise<void>;
  finish(results: readonly Finished[], batch: BatchId): Promise<void>;
  /** Whether a handler of the batch has to see to the task. */
  isOpen(task: TaskRow, batch: BatchId): boolean;
}

interface Finished {
  readonly id: TaskId;
  readonly outcome: Pick<Outcome, 'status'>;
}

/** @param claims as the description is read */
export const isOpen = (claims: Reading['claims'], { status, batchId }: TaskRow, batch: BatchId): boolean => {
  if (status === 'succeeded' || status === 'failed') return false;
  return claims === 'as-read' || batchId === batch;
};
