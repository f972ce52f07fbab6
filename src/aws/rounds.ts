/** Repeats, with growing pauses, the parts of a request that a service did not do. */
import { callTime } from './call-time.ts';

/** Number of rounds, and the upper limit of the first pause in milliseconds. The limit doubles for each later pause. */
const ROUNDS = 8;
const FIRST_PAUSE = 50;

/** A part that a service did not do in a round, and the service's error for this part. */
export interface Left<T> {
  readonly each: T;
  readonly cause: Error;
}

/**
 * Some parts were not done after all rounds, or before the function's time was over. `cause` is the service's last
 * error.
 */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  constructor(left: number, all: number, cause: Error, rounds = ROUNDS) {
    super(`${left} of ${all} not done after ${rounds} rounds: ${cause.message}; try again later`, { cause });
  }
}

/**
 * Repeats `attempt` until all parts are done, with full jitter in the pauses between the rounds.
 *
 * @param attempt does the parts that it can, and returns the others
 * @throws GaveUp
 */
export const inRounds = async <T>(
  all: readonly T[],
  attempt: (open: readonly T[]) => Promise<readonly Left<T>[]>,
): Promise<void> => {
  let open = all;
  for (let round = 1; open.length > 0; round += 1) {
    const left = await attempt(open);
    const cause = left.at(-1)?.cause;
    const span = Math.random() * FIRST_PAUSE * 2 ** (round - 1);
    if (cause && (round === ROUNDS || span >= callTime(Number.POSITIVE_INFINITY)))
      throw new GaveUp(left.length, all.length, cause, round);
    if (cause) await pause(span);
    open = left.map(({ each }) => each);
  }
};

const pause = (span: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, span));
