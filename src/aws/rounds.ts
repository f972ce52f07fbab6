/** Asks again, later and later, for what a service did not do the first time. */

/** How often, and how long the first pause may be (ms); later ones double. */
const ROUNDS = 8;
const FIRST_PAUSE = 50;

/** Still not done after all rounds. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
  constructor(left: number, all: number) {
    super(`${left} of ${all} not done after ${ROUNDS} rounds`);
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
  attempt: (open: readonly T[]) => Promise<readonly T[]>,
): Promise<void> => {
  let open = all;
  for (let round = 0; open.length > 0; round += 1) {
    if (round === ROUNDS) throw new GaveUp(open.length, all.length);
    if (round > 0) await pause(Math.random() * FIRST_PAUSE * 2 ** (round - 1));
    open = await attempt(open);
  }
};

const pause = (span: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, span));
