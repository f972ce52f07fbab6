/**
 * What became of a batch's members in one run: results are written here, counted as the tasks then show them (one that
 * somebody else wrote first stands), and told to those who want to know before the batch goes on.
 */

import type { Batch, Counts } from '../../domain/batches/batch.ts';
import { destinationOf } from '../../domain/callbacks/callback.ts';
import type { Operation } from '../../domain/config/resolved.ts';
import type { TaskId } from '../../domain/ids.ts';
import type { TaskResult } from '../../domain/tasks/task.ts';
import type { EndedMember, Member, Members } from '../../ports/tasks.ts';
import type { Deps } from '../deps.ts';
import { ackEnded, callBack } from '../tasks/tell.ts';

type TallyDeps = Pick<Deps, 'config' | 'tasks' | 'fanOuts' | 'queues' | 'machine' | 'report'>;

/** Tasks that are read to be told of at once: each may have a result of 256 KB. */
const TOLD_AT_ONCE = 100;

export class Tally {
  readonly #deps: TallyDeps;
  readonly #batch: Batch;
  readonly #operation: Operation;
  readonly #members: ReadonlyMap<TaskId, Member>;
  readonly #ended: EndedMember[];
  #counts: Counts;

  /** @param members as loaded: those that were without a result when the last attempt ended. */
  constructor(deps: TallyDeps, batch: Batch, operation: Operation, members: Members) {
    this.#deps = deps;
    this.#batch = batch;
    this.#operation = operation;
    this.#members = new Map([...members.open, ...members.lost].map((member) => [member.id, member]));
    this.#ended = [...members.ended];
    this.#counts = batch.open || batch.pending ? plus(batch.counts, members.counts) : members.counts;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Writes results. @param tries those that count until then. */
  async record(results: readonly TaskResult[], tries: number): Promise<void> {
    if (results.length === 0) return;
    const { tasks, machine } = this.#deps;
    const written = await tasks.finish(results, {
      id: this.#batch.id,
      target: this.#batch.target,
      attempts: Math.min(tries, this.#operation.retry.maxAttempts),
      at: machine.now(),
      keep: this.#operation.keepTasks,
    });
    for (const [index, status] of written.entries()) {
      const member = this.#members.get((results[index] as TaskResult).id);
      if (!status || !member) continue;
      this.#counts = { ...this.#counts, [status]: this.#counts[status] + 1 };
      this.#ended.push({ ...member, status });
    }
  }

  /**
   * Tells of all that ended, whoever wrote it: he may not have come that far. Fan-outs first, all at once, since a member
   * knows its item and how it ended; for initiators the tasks are read, and nothing where nobody wants to know.
   */
  async tellEnded(): Promise<void> {
    await ackEnded(this.#deps, this.#ended);
    const ids = this.#ended
      .filter(({ callback, status }) => destinationOf(this.#operation, callback, status) !== undefined)
      .map(({ id }) => id);
    for (let from = 0; from < ids.length; from += TOLD_AT_ONCE)
      await callBack(this.#deps, await this.#deps.tasks.all(ids.slice(from, from + TOLD_AT_ONCE)));
  }
}

const plus = (a: Counts | undefined, b: Counts): Counts => ({
  succeeded: (a?.succeeded ?? 0) + b.succeeded,
  failed: (a?.failed ?? 0) + b.failed,
});
