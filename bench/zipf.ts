/** Which of some Targets each of many tasks is for. */
import { seeded } from '../src/virtual/random.ts';

/**
 * By Zipf's law: the one of rank r gets a share of 1/r^exponent. With 0 all get as many, in turn.
 *
 * @returns ranks from 0 on, the same for the same numbers.
 */
export const zipf = (tasks: number, targets: number, exponent: number): number[] => {
  if (exponent === 0) return Array.from({ length: tasks }, (_, n) => n % targets);
  const random = seeded(1);
  let sum = 0;
  const upTo = Array.from({ length: targets }, (_, rank) => {
    sum += 1 / (rank + 1) ** exponent;
    return sum;
  });
  return Array.from({ length: tasks }, () => {
    const at = random.next() * sum;
    return upTo.findIndex((end) => at < end);
  });
};
