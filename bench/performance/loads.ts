/**
 * The loads: for each load, the tasks and the times at which they arrive. The same seed gives the same tasks at the
 * same times.
 */

import { readFlights } from '../../examples/fleet/flights.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import type { Arrival } from '../../tools/simulate/trace.ts';
import { byChance } from '../policies/arrivals.ts';

export interface Load {
  /** The name of the load and of its operation. */
  readonly name: string;
  /** A sentence about the load, for the documentation. */
  readonly about: string;
  /** The field of the payload by which tasks are grouped into Targets. */
  readonly key: string;
  readonly maxSize: number;
  readonly maxWait: Millis;
  readonly arrivals: readonly Arrival[];
}

const SECOND: Millis = 1_000;
const SEED = 1;
/** The size of payloads, in bytes. It is the same as in `bench:burst`. */
const PAYLOAD_BYTES = 500;

const payloadOf = (depot: number, n: number): string => {
  const fields = { depot: `D${depot}`, n, text: '' };
  return JSON.stringify({ ...fields, text: 'x'.repeat(PAYLOAD_BYTES - JSON.stringify(fields).length) });
};

/** Tasks that arrive at `moments`, each for a random Target. */
const tasks = (operation: string, moments: readonly Millis[], target: (random: Random) => number): Arrival[] => {
  const random = seeded(SEED);
  return moments.map((at, n) => ({ at, operation, payload: payloadOf(target(random), n) }));
};

const evenly =
  (targets: number) =>
  (random: Random): number =>
    random.int(1, targets);

/** Random Targets by Zipf's law: the k-th most frequent Target is 1/k as frequent as the first. */
const skewed = (targets: number): ((random: Random) => number) => {
  const shares = Array.from({ length: targets }, (_, index) => 1 / (index + 1));
  const sum = shares.reduce((all, share) => all + share, 0);
  return (random) => {
    let left = random.next() * sum;
    const index = shares.findIndex((share) => {
      left -= share;
      return left < 0;
    });
    return 1 + (index === -1 ? targets - 1 : index);
  };
};

export interface Burst {
  readonly tasks: number;
  readonly targets: number;
  readonly maxWait: Millis;
}

/** A load whose tasks all arrive at once. */
export const burst = ({ tasks: count, targets, maxWait }: Burst): Load => ({
  name: 'burst',
  about: `${named(count)} tasks over ${targets} Targets at once; the k-th Target has 1/k of the tasks of the first (Zipf).`,
  key: 'depot',
  maxSize: 100,
  maxWait,
  arrivals: tasks('burst', new Array<Millis>(count).fill(0), skewed(targets)),
});

interface Stream extends Burst {
  readonly name: string;
  readonly perSecond: number;
}

/** A load whose tasks arrive at random times, at a given average rate per second. */
const stream = ({ name, tasks: count, targets, maxWait, perSecond }: Stream): Load => ({
  name,
  about: `${perSecond} tasks a second at random times over ${targets === 1 ? 'one Target' : `${named(targets)} Targets`}, ${named(count)} in total.`,
  key: 'depot',
  maxSize: 100,
  maxWait,
  arrivals: tasks(name, byChance(perSecond, count, SEED), evenly(targets)),
});

/** The flights of the example, accelerated so that they take `over` in total. */
const replay = (count: number, over: Millis): Load => {
  const flights = readFlights(count);
  const origins = new Set(flights.map(({ origin }) => origin)).size;
  return {
    name: 'flights',
    about: `${named(count)} flights of the [example](../../examples/flights/README.md) from ${origins} airports, their departure times compressed to ${over / SECOND} s.`,
    key: 'origin',
    maxSize: 100,
    maxWait: 2 * SECOND,
    arrivals: flights.map(({ after, ...flight }) => ({
      at: after * over,
      operation: 'flights',
      payload: JSON.stringify(flight),
    })),
  };
};

const named = (count: number): string => count.toLocaleString('en');

/** @param scale the share of the tasks that is sent; 1 for the documentation; the rates do not change */
export const loadsAt = (scale: number): readonly Load[] => {
  const some = (count: number): number => Math.max(1, Math.round(count * scale));
  return [
    burst({ tasks: some(10_000), targets: 20, maxWait: 10 * SECOND }),
    stream({ name: 'trickle', tasks: some(60), targets: 4, maxWait: 5 * SECOND, perSecond: 4 }),
    stream({ name: 'steady', tasks: some(800), targets: 1_000, maxWait: 10 * SECOND, perSecond: 40 }),
    stream({ name: 'hot', tasks: some(2_000), targets: 1, maxWait: 2 * SECOND, perSecond: 200 }),
    replay(some(3_000), 15 * SECOND * Math.min(1, scale)),
  ];
};
