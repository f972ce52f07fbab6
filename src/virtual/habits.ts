/** What SQS leaves open about a queue's messages: when they come, in which company, and what goes wrong with them. */
import type { Millis } from '../domain/ids.ts';
import { MINUTE } from '../domain/timings.ts';
import type { Chaos } from './chaos.ts';

export interface Habits {
  /** By how much a message's delay is exceeded. */
  overdue(id: string): Millis;
  /** How long a message is on its way that was sent without a delay. */
  late(id: string): Millis;
  /** How long it takes until somebody polls for what is ready. */
  untilPoll(): Millis;
  /** How many messages one poll gets, from 1 to `most`. */
  atOnce(most: number): number;
  /** Which of so many messages that are ready comes next. */
  nextOf(ready: number): number;
  /** After how long a message that was received comes a second time; undefined for one that does not. @param isCopy whether it just has */
  again(id: string, isCopy: boolean): Millis | undefined;
  /** How much longer than its visibility timeout a message is hidden. */
  hiddenLonger(): Millis;
  /** Whether a message that was handled is not deleted. */
  keeps(id: string): boolean;
  /** @default - whatever is ready is taken, by as many as it needs */
  readonly pollers?: Pollers;
}

/** Who takes a queue's messages, where it matters how many they are. */
export interface Pollers {
  /** Whether another batch is taken while so many are in hand. */
  mayTake(inHand: number): boolean;
  /** Is told of each batch that was handled, and how long that took. */
  handled(took: Millis, messages: number): void;
}

/** A queue as bad as SQS may be. A delay is mostly late by up to a second, one of nothing now and then by minutes. */
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

/** A queue as good as SQS mostly is: at once or when the delay is over, in order, as many as fit, and each once. */
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
