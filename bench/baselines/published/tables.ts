/** The published tables as its functions use them: in memory for the schedules, on DynamoDB for the benchmark. */
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import type { Outcome } from '../../../src/domain/tasks/task.ts';
import type { Reading } from './reading.ts';

/** A row of Task, whose key is the id. The index has the rows by Target and Status. */
export interface TaskRow {
  readonly id: TaskId;
  readonly target: Target;
  readonly status: 'created' | 'batched' | 'in-progress' | Outcome['status'];
  readonly payload: string;
  readonly createdAt: Millis;
  readonly batchId?: BatchId;
}

/** A row of Batch, whose key is the id. */
export interface BatchRow {
  readonly id: BatchId;
  readonly target: Target;
  readonly members: readonly TaskId[];
}

/** The attributes of a task that the index contains. */
export type IndexEntry = Pick<TaskRow, 'id' | 'createdAt'>;

export interface Tables {
  /**
   * Inserts a task if its id is free.
   * @returns the stored task
   */
  insert(task: TaskRow): Promise<TaskRow>;
  /** Takes the lock if it is free or expired, or if `holder` already has it. */
  acquire(target: Target, holder: string, expiry: Millis): Promise<boolean>;
  /** Removes the lock if `holder` has it. */
  release(target: Target, holder: string): Promise<void>;
  /** The tasks that are waiting according to the index, oldest first. */
  waiting(target: Target): Promise<readonly IndexEntry[]>;
  /** The query for waiting tasks that the leader repeats while it polls. In a schedule this query never fails. */
  poll(target: Target): Promise<readonly IndexEntry[]>;
  /** Strongly consistent reads of tasks, in the order of the ids. */
  read(ids: readonly TaskId[]): Promise<readonly (TaskRow | undefined)[]>;
  putBatch(batch: BatchRow): Promise<void>;
  /** A strongly consistent read. */
  batch(id: BatchId): Promise<BatchRow | undefined>;
  /** Puts tasks into a batch. @returns for each task, whether its row names that batch now */
  claim(ids: readonly TaskId[], batch: BatchId): Promise<readonly boolean[]>;
  start(ids: readonly TaskId[], batch: BatchId): Promise<void>;
  finish(results: readonly Finished[], batch: BatchId): Promise<void>;
  /** Whether the batch handler must process the task. */
  isOpen(task: TaskRow, batch: BatchId): boolean;
}

interface Finished {
  readonly id: TaskId;
  readonly outcome: Pick<Outcome, 'status'>;
}

/** @param claims how the description is read */
export const isOpen = (claims: Reading['claims'], { status, batchId }: TaskRow, batch: BatchId): boolean => {
  if (status === 'succeeded' || status === 'failed') return false;
  return claims === 'as-read' || batchId === batch;
};
