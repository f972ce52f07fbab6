/** The loads of `npm run bench:sustained`: their limits and their tasks, with the time and the Target of each task. */
import type { Millis } from '../../src/domain/ids.ts';
import { seeded } from '../../src/virtual/random.ts';
import { zipf } from '../zipf.ts';

/** The `maxWait` and the `maxSize` of every load. */
export const MAX_WAIT: Millis = 1_000;
export const MAX_SIZE = 25;

/** The limits of a load's measures, in milliseconds. */
interface Limits {
  readonly p99?: Millis;
  readonly longest?: Millis;
  /** The longest time without a call for a Target that has tasks. */
  readonly gap?: Millis;
  /** The time from the first send to the last call. */
  readonly drained?: Millis;
}

export interface Load {
  readonly name: string;
  readonly about: string;
  /** For each task, its send time in milliseconds from the start, and the number of its Target. */
  readonly sends: readonly { readonly at: Millis; readonly target: number }[];
  /** The number of processes that keep a core busy during the load. */
  readonly busyLoops: number;
  readonly limits: Limits;
}

/** Tasks at a constant rate. @param rate the number of tasks a second */
const steadily = (rate: number, seconds: number, targets: readonly number[]): Load['sends'] =>
  Array.from({ length: Math.round(rate * seconds) }, (_, n) => ({
    at: (n * 1_000) / rate,
    target: targets[n % targets.length] as number,
  }));

/**
 * Tasks of many Targets. Each Target has a low rate and a different start.
 * @param rate the number of tasks a second of each Target
 */
const slowly = (rate: number, seconds: number, targets: number): Load['sends'] => {
  const random = seeded(1);
  const pause = 1_000 / rate;
  return Array.from({ length: targets }, (_, target) => {
    const from = random.next() * pause;
    return Array.from({ length: Math.round(rate * seconds) }, (_, n) => ({ at: from + n * pause, target }));
  })
    .flat()
    .toSorted((a, b) => a.at - b.at);
};

const RATE = 150;
const SKEWED = 20;
const skewed = (tasks: number): readonly number[] => zipf(tasks, SKEWED, 1);

/** @param scale the length of every load except the burst; 1 for the full length */
export const loadsAt = (scale: number): readonly Load[] => {
  const oneTarget = steadily(RATE, 100 * scale, [0]);
  const skewedTargets = steadily(RATE, 150 * scale, skewed(RATE * 150 * scale));
  const quiet: Limits = { p99: MAX_WAIT + 300, longest: MAX_WAIT + 1_000 };
  const busy: Limits = { gap: MAX_WAIT + 4_000 };
  return [
    { name: 'one Target', about: `${RATE} tasks a second.`, sends: oneTarget, busyLoops: 0, limits: quiet },
    {
      name: 'skewed Targets',
      about: `${RATE} tasks a second over ${SKEWED} Targets by Zipf's law.`,
      sends: skewedTargets,
      busyLoops: 0,
      limits: quiet,
    },
    {
      name: 'thousand Targets',
      about: '0.2 tasks a second for each.',
      sends: slowly(0.2, 100 * scale, 1_000),
      busyLoops: 0,
      limits: { p99: MAX_WAIT + 1_000 },
    },
    {
      name: 'one Target + busy',
      about: 'beside four processes that keep a core busy.',
      sends: oneTarget,
      busyLoops: 4,
      limits: busy,
    },
    {
      name: 'skewed Targets + busy',
      about: 'beside the same processes.',
      sends: skewedTargets,
      busyLoops: 4,
      limits: busy,
    },
    {
      name: 'burst',
      about: `10,000 tasks at once, over the same ${SKEWED} Targets.`,
      sends: skewed(10_000).map((target) => ({ at: 0, target })),
      busyLoops: 0,
      limits: { drained: 12_000 },
    },
  ];
};
