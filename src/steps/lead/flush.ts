/** Flush: somebody wants the tasks of a Target that wait now to be sealed at once, full or not. */
import { isHeld } from '../../domain/batches/lock.ts';
import type { Target } from '../../domain/ids.ts';
import type { LeadDeps } from '../deps.ts';

/** Waiting tasks are counted no further: counting costs a read unit per 8 KB of rows. */
export const COUNT_LIMIT = 1_000;

/**
 * The wish is kept in the lock row, where every leader reads it; the message only wakes the one that sleeps, or finds
 * one where there is none.
 *
 * @returns how many tasks wait (up to 1,000), or undefined for a Target that never had any.
 */
export const flush = async (
  { waiting, locks, queues, machine }: LeadDeps,
  target: Target,
): Promise<number | undefined> => {
  const [[first], seen] = await Promise.all([waiting.first(target, 1), locks.read(target)]);
  if (!first && seen.fence === 0) return undefined;
  const now = machine.now();
  const lock = await locks.flush(target, now);
  if (isHeld(lock, now) && lock.holder)
    await queues.group({ target, fence: lock.fence, token: lock.holder, hint: true }, 0);
  else await queues.elect([{ kind: 'elect', target }]);
  return waiting.count(target, COUNT_LIMIT);
};
