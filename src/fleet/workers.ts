/** The work on partitions: begins, drains and drops it as the heartbeat thread decides. */
import type { DropReason } from '../domain/fleets/events.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { PartitionWork, type WorkDeps } from './partition-work.ts';

interface Working {
  readonly held: Held;
  readonly work: PartitionWork;
  readonly done: Promise<void>;
}

/** Figures of the work on all partitions of a node. */
export interface Workload {
  /** Partitions that are kept without work, because their calls returned by themselves. */
  readonly finished: number;
  /** Calls that still run although their partition was lost some time ago. */
  readonly stuck: number;
  /** Age of the oldest last checkpoint in milliseconds. Undefined if there is none. */
  readonly checkpointAge: Millis | undefined;
}

export class Workers {
  readonly #deps: WorkDeps;
  readonly #works = new Map<string, Working>();

  #hasGivenUp = false;

  constructor(deps: WorkDeps) {
    this.#deps = deps;
  }

  get workload(): Workload {
    const works = [...this.#works.values()].map(({ work }) => work);
    const ages = works.flatMap(({ checkpointAge }) => checkpointAge ?? []);
    return {
      finished: works.filter(({ isFinished }) => isFinished).length,
      stuck: works.filter(({ isStuck }) => isStuck).length,
      checkpointAge: ages.length === 0 ? undefined : Math.max(...ages),
    };
  }

  begin(held: Held, checkpoint: string | undefined): void {
    // This message was in flight when the time for draining ended. Report the partition as drained at once, because no
    // work on it began.
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
   * Called when the time for draining is over. Aborts the signals of running work, and reports its partitions as
   * drained although the work may still run.
   */
  giveUp(): void {
    this.#hasGivenUp = true;
    for (const { held, work } of this.#works.values()) {
      // Another node has the partition, or it belongs to an earlier life of this node. Its signals were aborted
      // already, and only its call is still running.
      if (work.isDropped) continue;
      const { partition, fence } = held;
      work.drop('drain-timeout');
      this.#deps.report({ event: 'dropped', partition, fence, reason: 'drain-timeout' }, held);
      this.#deps.drained(held);
    }
  }

  /** Drops the work on all partitions, because the heartbeats have ended. */
  dropAll(): void {
    for (const { work } of this.#works.values()) work.drop('deadline');
  }

  /** P7. Suspends work whose deadline has passed. Must be called at regular intervals. */
  suspendLate(): void {
    for (const { work } of this.#works.values()) work.suspend();
  }

  /**
   * Starts the work on a partition when earlier calls for that partition have ended, so that only one call at a time
   * works on the partition. Earlier calls may still run if this node loses the partition and gets it again.
   */
  async #after(held: Held, work: PartitionWork): Promise<void> {
    const others = [...this.#works.values()].filter((other) => other.held.partition === held.partition);
    // If the partition is drained while earlier calls still run, do not wait for those calls. Otherwise a call that
    // never ends would keep the partition from all nodes.
    await Promise.race([Promise.all(others.map(({ done }) => done)), work.over]);
    await work.run();
    this.#works.delete(keyOf(held));
  }
}

/** `#` is a safe separator, because no partition's id contains it. */
const keyOf = ({ partition, owner, fence }: Held): string => `${partition}#${owner}#${fence}`;
