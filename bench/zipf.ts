/** Distributes tasks over Targets. */
import { seeded } from '../src/virtual/random.ts';

/**
 * The Target of each task by Zipf's law: the Target of rank r gets a share of 1/r^exponent. With exponent 0 each Target
 * gets the same number of tasks, in turn.
 *
 * @returns ranks from 0; the same arguments give the same ranks
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
