/** Work that may take for so long, by the real clock. */
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '../domain/ids.ts';
import { TimeIsUp } from './machine.ts';

/**
 * What some work comes to, unless it takes longer than `limit`.
 *
 * @param work gets a signal that is aborted when its time is up; work that ignores the signal goes on, and nothing waits for it
 * @param from the service that is asked, for the error
 * @throws TimeIsUp, or what the work throws
 */
export const within = async <T>(limit: Millis, work: (over: AbortSignal) => Promise<T>, from?: string): Promise<T> => {
  const settled = new AbortController();
  const over = new AbortController();
  const late = setTimeout(Math.max(0, limit), undefined, { signal: settled.signal }).then(() => {
    throw new TimeIsUp(limit, from);
  });
  const working = work(over.signal);
  // Nothing waits for the one that settles second.
  for (const each of [late, working]) each.catch(() => {});
  try {
    return await Promise.race([working, late]);
  } catch (cause) {
    // After the race, which the work would otherwise end with an error of its own.
    over.abort();
    throw cause;
  } finally {
    settled.abort();
  }
};
