/** Steps that are repeated: until nothing is left to do, or until nobody else is faster. */

import type { FanOutId } from '../domain/fan-out-ids.ts';
import type { ListId } from '../domain/lists/ids.ts';
import type { Invocation, Machine } from '../ports/machine.ts';

export type Next = 'again' | 'end';

/** The function's time ran out between two turns: the message comes back and goes on. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** Takes turns until one ends. @param what they are about, for the error. @throws OutOfTime */
export const untilDone = async (what: string, invocation: Invocation, turn: () => Promise<Next>): Promise<void> => {
  while ((await turn()) === 'again')
    if (invocation.timeLeft() <= 0) throw new OutOfTime(`no time left for ${what}; its message comes back`);
};

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

/** Adders of one fan-out wait for each other, and there are too many of them. */
export class FanOutBusy extends Error {
  override readonly name = 'FanOutBusy';
  constructor(id: FanOutId) {
    super(`too many add to fan-out ${id} at once: ask again with the same token, and add more items at a time`);
  }
}

const PATIENCE: Patience = { tries: 25, pause: 15 };

/** Too many want something of one list at once. */
export class ListBusy extends Error {
  override readonly name = 'ListBusy';
  constructor(id: ListId, why = 'too many ask of it at once') {
    super(`list ${id}: ${why}: ask again in a moment, with the same token or claimId`);
  }
}

/** @param attempt answers undefined where another one was faster. @throws ListBusy */
export const retryWhileContended = <T>(
  machine: Pick<Machine, 'random' | 'sleep'>,
  id: ListId,
  attempt: () => Promise<T | undefined>,
): Promise<T> => contend(machine, PATIENCE, attempt, () => new ListBusy(id));
