/**
 * Decides when a function receives the ready messages of a queue: soon, or when there are enough messages for one
 * invocation.
 */
import type { Millis } from '../domain/ids.ts';
import type { Chaos } from '../virtual/chaos.ts';
import type { Habits } from '../virtual/habits.ts';

/** The queue that is polled. */
interface Polled<Message> {
  /** The number of ready messages. */
  ready(): number;
  /** The number of invocations that have messages in hand. */
  inHand(): number;
  take(): readonly Message[];
  deliver(taken: readonly Message[]): void;
}

interface Gathering {
  readonly batchSize: number;
  /** How long the first message waits for others while fewer than `batchSize` messages are ready, in ms. @default 0 */
  readonly window?: Millis;
}

export class Polling<Message> {
  readonly #chaos: Chaos;
  readonly #habits: Habits;
  readonly #batchSize: number;
  readonly #window: Millis;
  readonly #queue: Polled<Message>;
  #isUnderWay = false;
  /**
   * When the waiting messages are delivered, even if there are only a few. Undefined if there are no waiting messages.
   */
  #handOnAt: Millis | undefined;

  constructor(chaos: Chaos, habits: Habits, { batchSize, window = 0 }: Gathering, queue: Polled<Message>) {
    this.#chaos = chaos;
    this.#habits = habits;
    this.#batchSize = batchSize;
    this.#window = window;
    this.#queue = queue;
  }

  soon(): void {
    if (this.#window > 0 && this.#queue.ready() < this.#batchSize) {
      this.#gather();
      return;
    }
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#chaos.scheduler.after(this.#habits.untilPoll(), () => {
      this.#isUnderWay = false;
      this.#poll();
    });
  }

  /** Makes the first ready message wait for other messages until the window ends. */
  #gather(): void {
    const { scheduler } = this.#chaos;
    if (this.#handOnAt !== undefined) return;
    const at = scheduler.now + this.#window;
    this.#handOnAt = at;
    scheduler.after(this.#window, () => {
      if (this.#handOnAt === at && this.#queue.ready() > 0) this.#poll();
    });
  }

  #poll(): void {
    const queue = this.#queue;
    const { pollers } = this.#habits;
    this.#handOnAt = undefined;
    if (!pollers) {
      const taken = queue.take();
      if (queue.ready() > 0) this.soon();
      if (taken.length > 0) queue.deliver(taken);
      return;
    }
    const least = this.#window > 0 ? this.#batchSize : 1;
    // First deliver the messages whose window has ended, even if there are only a few. Then deliver only full batches,
    // or batches of any size if there is no window.
    for (let from = 1; queue.ready() >= from && pollers.mayTake(queue.inHand()); from = least) {
      const taken = queue.take();
      if (taken.length > 0) queue.deliver(taken);
    }
    if (this.#window > 0 && queue.ready() > 0 && pollers.mayTake(queue.inHand())) this.soon();
  }
}
