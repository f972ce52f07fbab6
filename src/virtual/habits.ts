/** The behaviour that SQS leaves open: when messages arrive, how many a poll returns, and which deliveries go wrong. */
import type { Millis } from '../domain/ids.ts';
import { MINUTE } from '../domain/timings.ts';
import type { Chaos } from './chaos.ts';

export interface Habits {
  /** The time between the end of a message's delay and its arrival, in ms. */
  overdue(id: string): Millis;
  /** The time that a message sent without a delay takes to arrive, in ms. */
  late(id: string): Millis;
  /** The time until a poller polls for ready messages, in ms. */
  untilPoll(): Millis;
  /** How many messages one poll returns, from 1 to `most`. */
  atOnce(most: number): number;
  /** The index of the next message to deliver, among `ready` messages. */
  nextOf(ready: number): number;
  /**
   * The time after which a received message is delivered a second time, in ms. Undefined if there is no second
   * delivery.
   * @param isCopy whether this delivery is a repetition already
   */
  again(id: string, isCopy: boolean): Millis | undefined;
  /** The time for which a message stays hidden after the end of its visibility timeout, in ms. */
  hiddenLonger(): Millis;
  /** Whether SQS keeps a handled message instead of deleting it. */
  keeps(id: string): boolean;
  /** @default - as many pollers as there are ready messages */
  readonly pollers?: Pollers;
}

/** The pollers of a queue, for simulations in which their number matters. */
export interface Pollers {
  /** Whether a poller takes another batch while functions have `inHand` batches in hand. */
  mayTake(inHand: number): boolean;
  /** Called for each batch that was handled, with the time that handling took. @param bodies of its messages. */
  handled(took: Millis, bodies: readonly string[]): void;
}

/**
 * A queue with every fault that SQS allows. A message may arrive up to a second after its delay. A message without a
 * delay sometimes arrives minutes late.
 */
export const anyHabits = (chaos: Chaos, queue: string): Habits => {
  const random = chaos.chanceOf(`${queue} queue`);
  return {
    overdue: () => random.int(0, 1_000),
    late: (id) => chaos.fault('late', id)?.int(0, 5 * MINUTE) ?? 0,
    untilPoll: () => random.int(0, 50),
    atOnce: (most) => random.int(1, most),
    nextOf: (ready) => random.int(0, ready - 1),
    again: (id) => chaos.fault('duplicate', id)?.int(0, 30_000),
    hiddenLonger: () => random.int(0, 10_000),
    keeps: (id) => chaos.happens('undeleted', id),
  };
};

/**
 * A queue without faults: each message arrives exactly when due, in order and once, and each poll returns as many
 * messages as fit.
 */
export const bestHabits: Habits = {
  overdue: () => 0,
  late: () => 0,
  untilPoll: () => 0,
  atOnce: (most) => most,
  nextOf: () => 0,
  again: () => undefined,
  hiddenLonger: () => 0,
  keeps: () => false,
};
