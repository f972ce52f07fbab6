/** When tasks come. */
import type { Millis } from '../../src/domain/ids.ts';
import { seeded } from '../../src/virtual/random.ts';
import { untilNext } from '../../tools/simulate/load.ts';

/** By chance, so many a second on average. */
export const byChance = (perSecond: number, count: number, seed = 1): readonly Millis[] => {
  const random = seeded(seed);
  let at = 0;
  return Array.from({ length: count }, () => {
    at += untilNext(random, perSecond);
    return at;
  });
};

/** So many within `within`, again and again by chance, on average every `every`. */
export const inBursts = (size: number, within: Millis, every: Millis, count: number, seed = 1): readonly Millis[] => {
  const random = seeded(seed);
  return byChance(1_000 / every, count, seed)
    .flatMap((at) => Array.from({ length: size }, () => at + random.next() * within))
    .sort((a, b) => a - b);
};
