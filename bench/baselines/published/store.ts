/** The published tables, with the units that DynamoDB charges for each read and write. */
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import type { Outcome } from '../../../src/domain/tasks/task.ts';
import type { Reading } from './reading.ts';
import { type BatchRow, isOpen, type TaskRow } from './tables.ts';
import type { TargetIndex } from './target-index.ts';

/** A row of BatchLock, whose key is the Target. */
interface LockRow {
  readonly holder: string;
  readonly acquiredAt: Millis;
}

/**
 * The units of a change of Status in the index. The Status is part of the index key, so the change deletes the index
 * entry and adds a new one.
 */
const STATUS_CHANGE = 1 + 2;

export class Store {
  readonly tasks = new Map<TaskId, TaskRow>();
  readonly batches = new Map<BatchId, BatchRow>();
  /** For each task, all batches that it was ever put into. */
  readonly history = new Map<TaskId, Set<BatchId>>();
  /** Tasks that have ever had a result. */
  readonly ended = new Set<TaskId>();
  readonly units = { write: 0, read: 0 };
  readonly #locks = new Map<Target, LockRow>();
  readonly #index: TargetIndex;
  readonly #claims: Reading['claims'];

  constructor(index: TargetIndex, claims: Reading['claims']) {
    this.#index = index;
    this.#claims = claims;
  }

  /**
   * Inserts a task if its id is free.
   * @returns the stored task
   */
  insert(task: TaskRow): TaskRow {
    const stored = this.tasks.get(task.id);
    this.units.write += stored ? 1 : 2;
    if (!stored) this.#put(task);
    return stored ?? task;
  }

  /** Takes the lock if it is free or expired, or if `holder` already has it. */
  acquire(target: Target, holder: string, now: Millis, expiry: Millis): boolean {
    this.units.write += 1;
    const lock = this.#locks.get(target);
    if (lock && lock.holder !== holder && lock.acquiredAt + expiry >= now) return false;
    this.#locks.set(target, { holder, acquiredAt: now });
    return true;
  }

  /** Removes the lock if `holder` has it. */
  release(target: Target, holder: string): void {
    this.units.write += 1;
    if (this.#locks.get(target)?.holder === holder) this.#locks.delete(target);
  }

  /** The tasks that are waiting according to the index, oldest first. */
  waiting(target: Target): TaskRow[] {
    const rows = this.#index.waiting(target);
    this.units.read +=
      0.5 *
      blocks(
        rows.map(({ id, createdAt }) => ({ id, target, createdAt })),
        4_096,
      );
    return rows;
  }

  /** A strongly consistent read. */
  task(id: TaskId): TaskRow | undefined {
    this.units.read += 1;
    return this.tasks.get(id);
  }

  putBatch(batch: BatchRow): void {
    this.units.write += blocks(batch, 1_024);
    this.batches.set(batch.id, batch);
  }

  /** A strongly consistent read. */
  batch(id: BatchId): BatchRow | undefined {
    this.units.read += 1;
    return this.batches.get(id);
  }

  /** Puts a task into a batch. @returns whether the task's row names that batch now */
  claim(id: TaskId, batchId: BatchId): boolean {
    return this.#write(id, ({ status, ...row }) => {
      if (this.#claims === 'conditional' && status !== 'created') return row.batchId === batchId;
      this.history.set(id, (this.history.get(id) ?? new Set()).add(batchId));
      return { ...row, status: 'batched', batchId };
    });
  }

  start(id: TaskId, batchId: BatchId): boolean {
    return this.#write(id, (row) => this.isOpen(row, batchId) && { ...row, status: 'in-progress' });
  }

  finish(id: TaskId, batchId: BatchId, status: Outcome['status']): boolean {
    return this.#write(id, (row) => {
      if (this.#claims === 'conditional' && !this.isOpen(row, batchId)) return false;
      this.ended.add(id);
      return { ...row, status };
    });
  }

  /** Whether the batch handler must process the task. */
  isOpen(task: TaskRow, batch: BatchId): boolean {
    return isOpen(this.#claims, task, batch);
  }

  /** A conditional write. `change` returns the new row, or the answer if the write is refused. */
  #write(id: TaskId, change: (row: TaskRow) => TaskRow | boolean): boolean {
    const before = this.tasks.get(id);
    const after = before ? change(before) : false;
    if (typeof after === 'boolean') {
      this.units.write += 1;
      return after;
    }
    this.units.write += after.status === before?.status ? 1 : STATUS_CHANGE;
    this.#put(after);
    return true;
  }

  #put(row: TaskRow): void {
    this.tasks.set(row.id, row);
    this.#index.write(row);
  }
}

/** The number of units of `bytes` that DynamoDB charges for a row or an answer. An empty answer costs one unit. */
const blocks = (rows: object, bytes: number): number => Math.max(1, Math.ceil(JSON.stringify(rows).length / bytes));
