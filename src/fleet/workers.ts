/** The thread that works on partitions: it begins, drains and drops them as the thread of the heartbeats says. */
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
    // It was on its way when there was no more time: nothing was begun that would have to end.
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

  /** There is no more time to end in: what still runs is told to stop, and given away all the same. */
  giveUp(): void {
    this.#hasGivenUp = true;
    for (const { held, work } of this.#works.values()) {
      // Another's, or gone with a life of before: it has been told, and only does not end.
      if (work.isDropped) continue;
      const { partition, fence } = held;
      work.drop('drain-timeout');
      this.#deps.report({ event: 'dropped', partition, fence, reason: 'drain-timeout' }, held);
      this.#deps.drained(held);
    }
  }

  /** There are no heartbeats any more. */
  dropAll(): void {
    for (const { work } of this.#works.values()) work.drop('deadline');
  }

  /** P7. To be called now and then. */
  suspendLate(): void {
    for (const { work } of this.#works.values()) work.suspend();
  }

  /** One partition is worked on once at a time, also where it comes back before the last call has ended. */
  async #after(held: Held, work: PartitionWork): Promise<void> {
    const others = [...this.#works.values()].filter((other) => other.held.partition === held.partition);
    // Drained before that, it is given away at once: a call that never ends would keep it from everybody.
    await Promise.race([Promise.all(others.map(({ done }) => done)), work.over]);
    await work.run();
    this.#works.delete(keyOf(held));
  }
}

/** `#` is in no partition's name. */
const keyOf = ({ partition, owner, fence }: Held): string => `${partition}#${owner}#${fence}`;
