/** The work on partitions: begins, drains and drops it as the heartbeat thread decides. */
import type { DropReason } from '../domain/fleets/events.ts';
import type { Held } from '../ports/fleets.ts';
import { PartitionWork, type WorkDeps } from './partition-work.ts';

interface Working {
  readonly held: Held;
  readonly work: PartitionWork;
  readonly done: Promise<void>;
}

export class Workers {
  readonly #deps: WorkDeps;
  readonly #works = new Map<string, Working>();

  #hasGivenUp = false;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
  }

  begin(held: Held, checkpoint: string | undefined): void {
    // The message was in flight when the time for draining ended. No work began, so none has to end.
    if (this.#hasGivenUp) {
      this.#deps.drained(held);
      return;
    }
    const work = new PartitionWork(held, checkpoint, this.#deps);
    const done = this.#after(held, work);
    this.#works.set(keyOf(held), { held, work, done });
  }

  drain(held: Held): void {
    this.#works.get(keyOf(held))?.work.drain();
  }

  drop(held: Held, reason: DropReason): void {
    this.#works.get(keyOf(held))?.work.drop(reason);
  }

  /**
   * The time for draining is over: the signals of running work abort, and its partitions are given away all the same.
   */
  giveUp(): void {
    this.#hasGivenUp = true;
    for (const { held, work } of this.#works.values()) {
      // The partition is another node's, or belongs to an earlier life. Its signals have aborted already; only the call
      // has not ended.
      if (work.isDropped) continue;
      const { partition, fence } = held;
      work.drop('drain-timeout');
      this.#deps.report({ event: 'dropped', partition, fence, reason: 'drain-timeout' }, held);
      this.#deps.drained(held);
    }
  }

  /** The heartbeats have ended. */
  dropAll(): void {
    for (const { work } of this.#works.values()) work.drop('deadline');
  }

  /** P7. Must be called at regular intervals. */
  suspendLate(): void {
    for (const { work } of this.#works.values()) work.suspend();
  }

  /** Only one call works on a partition at a time, also if the partition comes back before the last call has ended. */
  async #after(held: Held, work: PartitionWork): Promise<void> {
    const others = [...this.#works.values()].filter((other) => other.held.partition === held.partition);
    // If the partition is drained before that, it is given away at once. Otherwise a call that never ends would keep it
    // from all nodes.
    await Promise.race([Promise.all(others.map(({ done }) => done)), work.over]);
    await work.run();
    this.#works.delete(keyOf(held));
  }
}

/** `#` occurs in no partition's id. */
const keyOf = ({ partition, owner, fence }: Held): string => `${partition}#${owner}#${fence}`;
