/** Flush: a user asks for the waiting tasks of a Target to be sealed now, even if their batch is not full. */
import { isHeld } from '../../domain/batches/lock.ts';
import type { Target } from '../../domain/ids.ts';
import type { LeadDeps } from '../deps.ts';

/** Counting stops at this number of waiting tasks, because it costs a read unit per 8 KB of rows. */
export const COUNT_LIMIT = 1_000;

/**
 * Notes the flush in the lock row, which every leader reads, and only then sends a message. The message wakes the
 * sleeping leader, or finds a leader if there is none.
 *
 * @returns how many tasks wait (up to 1,000). Undefined for a Target that never had a task.
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
