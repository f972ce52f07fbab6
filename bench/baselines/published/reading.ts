/** The choices that the published description leaves open, and the lag of its index. */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Random } from '../../../src/virtual/random.ts';

/** The time until the index contains a write, in milliseconds. */
export type Lag = (random: Random) => Millis;

export const NO_LAG: Lag = () => 0;
const upTo =
  (most: Millis): Lag =>
  (random) =>
    random.int(0, most);
/** The lag of a healthy index: it contains nearly every write at once, and one in a hundred late. */
export const seldomUpTo =
  (most: Millis): Lag =>
  (random) =>
    random.chance(0.01) ? random.int(0, most) : random.int(0, 50);

export interface Reading {
  readonly lag: Lag;
  /**
   * `as-read`: a task is written by its id, whatever its current state is. `conditional`: a task is written only while
   * it still waits, and the batch handler processes only tasks whose rows name the handler's batch.
   */
  readonly claims: 'as-read' | 'conditional';
  /**
   * Whether a leader that has released the lock queries the index once more, for tasks that lost the election while the
   * leader held the lock.
   */
  readonly looksAgain: boolean;
  /** Whether a leader that died is restarted at the step where it stopped. */
  readonly restarts: boolean;
}

/** The description, with every open choice made in its favour. */
export const PUBLISHED: Reading = { lag: upTo(3_000), claims: 'as-read', looksAgain: true, restarts: false };
