/** The store of tasks. The rules of rows.ts hold here. */

import type { Members, OpenTask } from '../domain/batches/members.ts';
import type { BatchId, Candidate, Millis, OperationName, Target, TaskId } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';
import type {
  NewTask,
  Outcome,
  PayloadToStore,
  Settlement,
  Task,
  TaskError,
  TaskResult,
  TaskRun,
} from '../domain/tasks/task.ts';

/** The result of a write that succeeds only once: whether this call wrote the task, and the stored task. */
export interface Written {
  readonly isNew: boolean;
  readonly stored: Task;
}

/** Tasks that a store cannot hold because of their content, such as a number out of range. A retry does not help. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
  /** The reasons, by task. */
  readonly reasons: ReadonlyMap<TaskId, string>;
  constructor(reasons: ReadonlyMap<TaskId, string>) {
    super(`${reasons.size} tasks cannot be stored: ${[...reasons.values()][0]}`);
    this.reasons = reasons;
  }
}

export interface Tasks {
  /**
   * Inserts each task whose id is unused (R1). Returns the results in the order of `tasks`.
   *
   * @throws Unstorable if some cannot be stored; the others are stored.
   */
  insert(tasks: readonly NewTask[]): Promise<readonly Written[]>;
  /**
   * Stores payloads in rows of their own, for tasks with `payloadApart`. The payload must be stored before the task may
   * be claimed. An existing row of the task stays; a row left by an earlier task with the same id and payload is
   * reused.
   */
  storePayloads(payloads: readonly PayloadToStore[]): Promise<void>;
  /**
   * Claims each candidate for the batch, if it is `created` in the same run (F2). True for candidates that now show the
   * batch.
   */
  claim(candidates: readonly Candidate[], batch: BatchId): Promise<readonly boolean[]>;
  /**
   * Starts another run of each task that is still `failed` in the run that was read. The task then waits without a
   * batch, and its payload row no longer expires. Undefined for a task that is no longer stored.
   */
  redrive(failed: readonly Task[], at: Millis): Promise<readonly (Written | undefined)[]>;
  /**
   * Loads a batch's members (H3). A member that no longer shows the batch was redriven. It counts as failed, because
   * only failed tasks can be redriven.
   */
  members(ids: readonly TaskId[], batch: BatchId): Promise<Members>;
  /**
   * The open members of the batch with their payloads, at half the cost (H3). Eventually consistent: a missing member
   * may be open, and a returned one may have ended.
   */
  readEventually(ids: readonly TaskId[], batch: BatchId): Promise<readonly OpenTask[]>;
  /**
   * Writes results of members that are still open (H4). Returns how each member ended in this batch, including members
   * that ended earlier. Undefined for a member that is no longer stored.
   */
  finish(results: readonly TaskResult[], batch: FinishingBatch): Promise<readonly (Outcome['status'] | undefined)[]>;
  /** Writes an open member's row without changing it, as a test: rejects if a result could not be written now. */
  touch(id: TaskId, batch: BatchId): Promise<void>;
  get(id: TaskId): Promise<Task | undefined>;
  /** The tasks among `ids` that are stored, with their results, in the order of `ids`. */
  all(ids: readonly TaskId[]): Promise<readonly Task[]>;
  /**
   * Ends tasks that are `created` in the run that was read and have no batch. Undefined for a task that is no longer
   * stored.
   */
  settle(
    settlements: readonly { readonly task: Pick<Task, 'id' | 'run' | 'target'>; readonly as: Settlement }[],
    end: { readonly at: Millis; readonly keep: Millis },
  ): Promise<readonly (Written | undefined)[]>;
  /**
   * The states of tasks in the order of `ids`, without payloads and results: a thousand payloads or results do not fit
   * into a function's memory.
   */
  outlines(ids: readonly TaskId[]): Promise<readonly (TaskOutline | undefined)[]>;
  /** The payload of a stored task. */
  payload(id: TaskId): Promise<string | undefined>;
  /** Failed tasks of a Target, newest first. Eventually consistent. */
  failed(target: Target, limit: number, cursor?: string): Promise<Page<TaskId>>;
  /** Failed tasks of all Targets, in no particular order. Reads only failed tasks. Eventually consistent. */
  failedAnywhere(limit: number, cursor?: string): Promise<Page<TaskId>>;
  /**
   * Reads the next `limit` failed tasks, and returns those of one operation, or all, with their errors. `looked` is the
   * number of failed tasks that were read. Eventually consistent.
   */
  failures(
    operation: OperationName | undefined,
    limit: number,
    cursor?: string,
  ): Promise<Page<FailedTask> & { readonly looked: number }>;
}

/** A failed task and its error. */
export interface FailedTask extends Pick<Task, 'id' | 'operation' | 'target'> {
  readonly error: TaskError;
}

/** The state of a task. */
export interface TaskOutline extends TaskRun, Pick<Task, 'operation'> {
  readonly status: Task['state']['status'];
  readonly batchId?: BatchId;
}

/** What the results of one attempt have in common. */
export interface FinishingBatch {
  readonly id: BatchId;
  readonly target: Target;
  /** Counted attempts of the batch so far. */
  readonly attempts: number;
  readonly at: Millis;
  /** How long finished tasks are stored, in milliseconds. */
  readonly keep: Millis;
}
