/** Arrival times of tasks. */
import type { Millis } from '../../src/domain/ids.ts';
import { seeded } from '../../src/virtual/random.ts';
import { untilNext } from '../../tools/simulate/load.ts';

/** Random times, at an average rate of `perSecond`. */
export const byChance = (perSecond: number, count: number, seed = 1): readonly Millis[] => {
  const random = seeded(seed);
  let at = 0;
  return Array.from({ length: count }, () => {
    at += untilNext(random, perSecond);
    return at;
  });
};

/** Bursts of `size` tasks, each within `within`. The bursts come at random times, on average every `every`. */
export const inBursts = (size: number, within: Millis, every: Millis, count: number, seed = 1): readonly Millis[] => {
  const random = seeded(seed);
  return byChance(1_000 / every, count, seed)
    .flatMap((at) => Array.from({ length: size }, () => at + random.next() * within))
    .sort((a, b) => a - b);
};
