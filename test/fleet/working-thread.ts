/** The thread that works on partitions, in virtual time, with a deadline and a table that the test controls. */
import { expect } from 'vitest';
import type { LifeEvent, WhenFinished } from '../../src/domain/fleets/events.ts';
import type { Partition } from '../../src/fleet/partition.ts';
import type { WorkDeps } from '../../src/fleet/partition-work.ts';
import { Workers } from '../../src/fleet/workers.ts';
import type { Held } from '../../src/ports/fleets.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { held } from './records.ts';

export const P0 = held(0, 'a');

/** Resolves once a signal has aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });

interface Call {
  readonly partition: Partition;
  readonly at: number;
  isOver: boolean;
}

export class Thread {
  readonly scheduler = new Scheduler(0);
  readonly calls: Call[] = [];
  readonly drained: Held[] = [];
  /** The drained partitions whose work ended by itself. */
  readonly released: Held[] = [];
  readonly reported: LifeEvent[] = [];
  readonly stored: string[] = [];
  /** The table's answer to a checkpoint. */
  stores: () => Promise<boolean> = async () => true;
  /** The work on a partition. By default it ends when its signal aborts. */
  work: (partition: Partition) => Promise<void> = ({ signal }) => aborted(signal);
  #deadline = 1_000_000;
  #later = Promise.withResolvers<void>();

  readonly #deps: WorkDeps = {
    clock: { now: () => this.scheduler.now, sleep: (span) => this.scheduler.wait(span) },
    onPartition: (given) => {
      const call = { partition: given, at: this.scheduler.now, isOver: false };
      this.calls.push(call);
      return this.work(given).finally(() => {
        call.isOver = true;
      });
    },
    deadline: () => this.#deadline,
    nextDeadline: () => this.#later.promise,
    checkpoint: (_, text) => {
      this.stored.push(text);
      return this.stores();
    },
    drained: (which, isReleased) => {
      this.drained.push(which);
      if (isReleased) this.released.push(which);
    },
    whenFinished: 'keep',
    report: (event) => void this.reported.push(event),
  };
  readonly workers: Workers;

  constructor(whenFinished: WhenFinished = 'keep') {
    this.workers = new Workers({ ...this.#deps, whenFinished });
  }

  /** Extends the deadline, as a written heartbeat does. */
  extend(deadline: number): void {
    this.#deadline = deadline;
    this.#later.resolve();
    this.#later = Promise.withResolvers();
  }

  async pass(span: number): Promise<void> {
    let isOver = false;
    this.scheduler.after(span, () => {
      isOver = true;
    });
    await this.scheduler.run(() => isOver, this.scheduler.now + span);
  }

  /** Lets the deadline pass, and lets the workers check it. */
  async passDeadline(): Promise<void> {
    await this.pass(this.#deadline - this.scheduler.now);
    this.workers.suspendLate();
    await this.pass(0);
  }

  get last(): Call {
    return this.calls.at(-1) as Call;
  }

  get events(): string[] {
    return this.reported.map(({ event }) => event);
  }
}

export const begun = async (
  work?: Thread['work'],
  checkpoint?: string,
  whenFinished?: WhenFinished,
): Promise<Thread> => {
  const thread = new Thread(whenFinished);
  if (work) thread.work = work;
  thread.workers.begin(P0, checkpoint);
  await thread.pass(0);
  return thread;
};

export const lost = (reason: string) => expect.objectContaining({ name: 'PartitionLost', partition: '0', reason });
