/** The tasks of all operations. What holds for every store is said in rows.ts. */

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

/** What became of a write that only one can do: whether it was this one, and the task as it is stored. */
export interface Written {
  readonly isNew: boolean;
  readonly stored: Task;
}

/** Tasks that a store does not take for what they contain, such as a number out of its range: to ask again is no use. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
  /** Why, by task. */
  readonly reasons: ReadonlyMap<TaskId, string>;
  constructor(reasons: ReadonlyMap<TaskId, string>) {
    super(`${reasons.size} tasks cannot be stored: ${[...reasons.values()][0]}`);
    this.reasons = reasons;
  }
}

export interface Tasks {
  /**
   * R1. Inserts each task whose id is free. Answers in the order asked.
   *
   * @throws Unstorable where some cannot be stored; the others are.
   */
  insert(tasks: readonly NewTask[]): Promise<readonly Written[]>;
  /**
   * Stores payloads in rows of their own, for tasks that are `payloadApart`. To be called before a task may be claimed.
   * Leaves what is there for the task already, and takes over what is left of an earlier one with its id and payload.
   */
  storePayloads(payloads: readonly PayloadToStore[]): Promise<void>;
  /** F2. Claims each candidate for the batch if it is `created` in the same run. True for those that now show the batch. */
  claim(candidates: readonly Candidate[], batch: BatchId): Promise<readonly boolean[]>;
  /**
   * Starts a next run of each task that is still `failed` in the run in which it was read, as waiting and without a
   * batch; its payload is kept again. Undefined for one that is not stored any more.
   */
  redrive(failed: readonly Task[], at: Millis): Promise<readonly (Written | undefined)[]>;
  /**
   * H3. Loads a batch's members. One that does not show the batch any more was redriven: it is counted as failed here,
   * since only failed ones are.
   */
  members(ids: readonly TaskId[], batch: BatchId): Promise<Members>;
  /**
   * H3. Members that show the batch and are open, with their payloads, for half the price. Eventually consistent: one that is
   * left out may be open too, and one that is shown may have ended.
   */
  readEventually(ids: readonly TaskId[], batch: BatchId): Promise<readonly OpenTask[]>;
  /**
   * H4. Writes results onto members that are still open. Answers what became of each in this batch, whoever wrote it;
   * undefined for one that is not stored any more.
   */
  finish(results: readonly TaskResult[], batch: FinishingBatch): Promise<readonly (Outcome['status'] | undefined)[]>;
  /** Writes an open member's row as it is. Rejects where its result could not be written now either. */
  touch(id: TaskId, batch: BatchId): Promise<void>;
  get(id: TaskId): Promise<Task | undefined>;
  /** Those that are stored, in the order asked, with their results. */
  all(ids: readonly TaskId[]): Promise<readonly Task[]>;
  /** Ends tasks that are `created` in the run that was read, without a batch. Undefined for one that is not stored any more. */
  settle(
    settlements: readonly { readonly task: Pick<Task, 'id' | 'run' | 'target'>; readonly as: Settlement }[],
    end: { readonly at: Millis; readonly keep: Millis },
  ): Promise<readonly (Written | undefined)[]>;
  /** In the order asked, without what they carry: a thousand payloads and results are more than a function holds. */
  outlines(ids: readonly TaskId[]): Promise<readonly (TaskOutline | undefined)[]>;
  /** The payload of a stored task. */
  payload(id: TaskId): Promise<string | undefined>;
  /** Failed tasks of a Target, newest first. Eventually consistent. */
  failed(target: Target, limit: number, cursor?: string): Promise<Page<TaskId>>;
  /** Failed tasks of all Targets, in no order that means anything. Reads no others. Eventually consistent. */
  failedAnywhere(limit: number, cursor?: string): Promise<Page<TaskId>>;
  /**
   * Why tasks failed: likewise, those of an operation among the next `limit`, or all of these. `looked` is how many there
   * were to look at. Eventually consistent.
   */
  failures(
    operation: OperationName | undefined,
    limit: number,
    cursor?: string,
  ): Promise<Page<FailedTask> & { readonly looked: number }>;
}

/** A failed task, and why. */
export interface FailedTask extends Pick<Task, 'id' | 'operation' | 'target'> {
  readonly error: TaskError;
}

/** What a task is doing. */
export interface TaskOutline extends TaskRun, Pick<Task, 'operation'> {
  readonly status: Task['state']['status'];
  readonly batchId?: BatchId;
}

/** What the results of one attempt share. */
export interface FinishingBatch {
  readonly id: BatchId;
  readonly target: Target;
  /** Attempts at the batch until then. */
  readonly attempts: number;
  readonly at: Millis;
  /** How long finished tasks are kept, in milliseconds. */
  readonly keep: Millis;
}
