/** The eventually consistent index by Target and Status. The index contains each write after a separate delay. */
import type { Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import type { Scheduler } from '../../../src/virtual/scheduler.ts';
import type { TaskRow } from './tables.ts';

export class TargetIndex {
  readonly #scheduler: Scheduler;
  readonly #lag: () => Millis;
  readonly #created = new Map<Target, Map<TaskId, TaskRow>>();
  /**
   * For each task, the number of the newest write in the index. Writes of different tasks overtake each other, but an
   * older write of a task never replaces a newer one.
   */
  readonly #shown = new Map<TaskId, number>();
  #writes = 0;

  constructor(scheduler: Scheduler, lag: () => Millis) {
    this.#scheduler = scheduler;
    this.#lag = lag;
  }

  write(row: TaskRow): void {
    this.#writes += 1;
    const write = this.#writes;
    const delay = this.#lag();
    if (delay === 0) this.#show(row, write);
    else this.#scheduler.after(delay, () => this.#show(row, write));
  }

  /** The tasks of a Target that are waiting according to the index, oldest first. */
  waiting(target: Target): TaskRow[] {
    return [...(this.#created.get(target)?.values() ?? [])].sort((a, b) => a.createdAt - b.createdAt);
  }

  #show(row: TaskRow, write: number): void {
    if ((this.#shown.get(row.id) ?? 0) > write) return;
    this.#shown.set(row.id, write);
    const rows = this.#created.get(row.target) ?? new Map<TaskId, TaskRow>();
    this.#created.set(row.target, rows);
    if (row.status === 'created') rows.set(row.id, row);
    else rows.delete(row.id);
  }
}
