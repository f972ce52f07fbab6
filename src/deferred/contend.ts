/** Tries again what somebody else was faster at, later and later, until it is said that too many want the same. */
import type { Machine } from '../ports.ts';
import type { ListId } from './ids.ts';

const TRIES = 25;
const PAUSE = 15;

/** Too many want something of one list at once. */
export class ListBusy extends Error {
  override readonly name = 'ListBusy';
  constructor(id: ListId, why = 'too many ask of it at once') {
    super(`list ${id}: ${why}: ask again in a moment, with the same token or claimId`);
  }
}

/** @param attempt answers undefined where another one was faster. @throws ListBusy */
export const contend = async <T>(
  { random, sleep }: Pick<Machine, 'random' | 'sleep'>,
  id: ListId,
  attempt: () => Promise<T | undefined>,
): Promise<T> => {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
    await sleep(random() * PAUSE * 2 ** Math.min(tried, 5));
  }
  throw new ListBusy(id);
};
