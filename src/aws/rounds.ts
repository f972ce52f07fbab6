/** Asks again, later and later, for what a service did not do the first time. */
import { callTime } from './call-time.ts';

/** How often, and how long the first pause may be (ms); later ones double. */
const ROUNDS = 8;
const FIRST_PAUSE = 50;

/** What a round did not do, and what the service said about it. */
export interface Left<T> {
  readonly each: T;
  readonly cause: Error;
}

/** Still not done after all rounds, or when the function's time was over; the cause is what the service said last. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  constructor(left: number, all: number, cause: Error, rounds = ROUNDS) {
    super(`${left} of ${all} not done after ${rounds} rounds: ${cause.message}; try again later`, { cause });
  }
}

/**
 * Has everything done, round by round, with full jitter between them.
 *
 * @param attempt does what it can, and answers what is left.
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
