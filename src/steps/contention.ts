/**
 * Loops for conditional writes. One repeats a step until it reports its end, another repeats a write until it wins the
 * race.
 */

import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { ListId } from '../domain/lists/ids.ts';
import type { Invocation, Machine } from '../ports/machine.ts';

export type Next = 'again' | 'end';

/**
 * The function's time ran out between two turns of a loop. SQS delivers the message again, and the next invocation
 * continues the work.
 */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/**
 * Repeats `turn` until it returns 'end'.
 * @param what names the work, for the error.
 * @throws OutOfTime
 */
export const untilDone = async (what: string, invocation: Invocation, turn: () => Promise<Next>): Promise<void> => {
  while ((await turn()) === 'again')
    if (invocation.timeLeft() <= 0) throw new OutOfTime(`no time left for ${what}; SQS delivers its message again`);
};

/**
 * `tries`: the largest number of tries. `pause`: the longest pause before the second try, in milliseconds. This limit
 * doubles with each of the first five repeats.
 */
export interface Patience {
  readonly tries: number;
  readonly pause: number;
}

/**
 * Repeats a conditional write that other functions compete for, with random pauses in between.
 * @param attempt resolves to undefined if another function was faster.
 * @param busy the error to throw after the last try.
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

/** Too many requests add items to one fan-out at once. */
export class FanOutBusy extends Error {
  override readonly name = 'FanOutBusy';
  constructor(id: FanOutId) {
    super(
      `too many requests add to fan-out ${id} at once: repeat this one with the same token, and add more items with each request`,
    );
  }
}

const PATIENCE: Patience = { tries: 25, pause: 15 };

/** Too many requests change one list at once. */
export class ListBusy extends Error {
  override readonly name = 'ListBusy';
  constructor(id: ListId, why = 'too many requests change it at once') {
    super(`list ${id}: ${why}; repeat the request in a moment with the same token or claimId`);
  }
}

/**
 * @param attempt resolves to undefined if another function was faster.
 * @throws ListBusy
 */
export const retryWhileContended = <T>(
  machine: Pick<Machine, 'random' | 'sleep'>,
  id: ListId,
  attempt: () => Promise<T | undefined>,
): Promise<T> => contend(machine, PATIENCE, attempt, () => new ListBusy(id));
