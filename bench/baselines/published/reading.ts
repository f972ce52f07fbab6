/** How the published description is read where it leaves a choice, and how slow its index is. */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Random } from '../../../src/virtual/random.ts';

/** How long one write takes to show in the index, in ms. */
export type Lag = (random: Random) => Millis;

export const NO_LAG: Lag = () => 0;
const upTo =
  (most: Millis): Lag =>
  (random) =>
    random.int(0, most);
/** What a healthy index shows: nearly every write at once, and one in a hundred late. */
export const seldomUpTo =
  (most: Millis): Lag =>
  (random) =>
    random.chance(0.01) ? random.int(0, most) : random.int(0, 50);

export interface Reading {
  readonly lag: Lag;
  /**
   * `as-read`: a task is written by its id, whatever it has become since the index was read. `conditional`: only while
   * it is still waiting; and whoever handles a batch minds only tasks that show it.
   */
  readonly claims: 'as-read' | 'conditional';
  /** Whether a leader that gave the lock back looks once more for tasks that lost the election to it. */
  readonly looksAgain: boolean;
  /** Whether a leader that died is started again where it stopped. */
  readonly restarts: boolean;
}

/** The description, every open choice made in its favour. */
export const PUBLISHED: Reading = { lag: upTo(3_000), claims: 'as-read', looksAgain: true, restarts: false };
