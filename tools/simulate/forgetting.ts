/**
 * Deletes the rows of ended tasks and batches after a while, as expiry does in a deployment. The rows are deleted
 * earlier than in a deployment, but later than any message about them can arrive, including duplicates.
 */
import { type BatchId, type Millis, parseCandidate, type TaskId } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { payloadKey, type Tables } from '../../src/memory/tables.ts';

const KEEP: Millis = MINUTE;

/** Called when a row is deleted, to delete related state outside the tables. */
interface NotedForgotten {
  batch(id: BatchId): void;
  task(id: TaskId): void;
}

type Ended = { readonly at: Millis } & ({ readonly batch: BatchId } | { readonly task: TaskId });

export class Forgetting {
  readonly #tables: Tables;
  readonly #tell: NotedForgotten;
  /** Ended tasks and batches, in the order of their end. */
  #ended: Ended[] = [];

  constructor(tables: Tables, tell: NotedForgotten) {
    this.#tables = tables;
    this.#tell = tell;
  }

  batch(id: BatchId, at: Millis): void {
    this.#ended.push({ at, batch: id });
  }

  /** Notes a task that ended without a batch. */
  task(id: TaskId, at: Millis): void {
    this.#ended.push({ at, task: id });
  }

  /** Deletes the rows of tasks and batches that ended at least {@link KEEP} before `now`. */
  until(now: Millis): void {
    const kept = this.#ended.findIndex(({ at }) => at > now - KEEP);
    const over = kept === -1 ? this.#ended : this.#ended.slice(0, kept);
    this.#ended = kept === -1 ? [] : this.#ended.slice(kept);
    for (const ended of over) {
      if ('task' in ended) this.#forget(ended.task);
      else this.#forgetBatch(ended.batch);
    }
  }

  #forgetBatch(id: BatchId): void {
    const { batches } = this.#tables;
    for (const candidate of batches.get(id)?.candidates ?? []) {
      const { id: task } = parseCandidate(candidate);
      const state = this.#tables.tasks.get(task)?.state;
      if (state && 'batchId' in state && state.batchId === id) this.#forget(task);
    }
    batches.delete(id);
    this.#tell.batch(id);
  }

  #forget(id: TaskId): void {
    const { tasks, payloads } = this.#tables;
    const task = tasks.get(id);
    if (!task) return;
    payloads.delete(id);
    payloads.delete(payloadKey(task));
    tasks.delete(id);
    this.#tell.task(id);
  }
}
