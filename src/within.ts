/** Work that may take for so long, by the real clock. */
import { setTimeout } from 'node:timers/promises';
import { type Machine, TimeIsUp } from './ports.ts';

export const within: Machine['within'] = async (limit, work) => {
  const settled = new AbortController();
  const { signal } = settled;
  const late = setTimeout(Math.max(0, limit), undefined, { signal }).then(() => {
    throw new TimeIsUp(limit);
  });
  const working = work();
  // Nobody hears what becomes of the one that comes second.
  for (const each of [late, working]) each.catch(() => {});
  try {
    return await Promise.race([working, late]);
  } finally {
    settled.abort();
  }
};
