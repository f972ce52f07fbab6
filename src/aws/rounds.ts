/** Repeats, with growing pauses, what a service did not do in the previous round. */
import { callTime } from './call-time.ts';

/** Number of rounds, and the longest first pause in milliseconds; each later pause may be twice as long. */
const ROUNDS = 8;
const FIRST_PAUSE = 50;

/** What a round did not do, and the service's error for it. */
export interface Left<T> {
  readonly each: T;
  readonly cause: Error;
}

/** Not done after all rounds, or when the function's time was over. `cause` is the service's last error. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  constructor(left: number, all: number, cause: Error, rounds = ROUNDS) {
    super(`${left} of ${all} not done after ${rounds} rounds: ${cause.message}; try again later`, { cause });
  }
}

/**
 * Does everything, round by round, with full jitter between the rounds.
 *
 * @param attempt does what it can, and returns what is left
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
