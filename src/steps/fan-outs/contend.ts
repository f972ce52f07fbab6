/** Tries again what somebody else was faster at, later and later: each who loses lets others through. */
import type { Machine } from '../../ports/machine.ts';

/** How often, and how long the first pause is at the most, in ms. */
export interface Patience {
  readonly tries: number;
  readonly pause: number;
}

/**
 * @param attempt answers undefined where another one was faster
 * @param busy what to say once too many wanted the same, too often
 */
export const contend = async <T>(
  { random, sleep }: Pick<Machine, 'random' | 'sleep'>,
  { tries, pause }: Patience,
  attempt: () => Promise<T | undefined>,
  busy: () => Error,
): Promise<T> => {
  for (let tried = 0; tried < tries; tried += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
    await sleep(random() * pause * 2 ** Math.min(tried, 5));
  }
  throw busy();
};
