/**
 * Generates a load: tasks at random times (a Poisson process), over Targets of which the n-th gets a share of 1/n^skew
 * (Zipf's law), plus bursts. The same seed generates the same load. Memory holds the Targets and the bursts under way.
 */

import type { Operation } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Parsed, Problem } from '../../src/util/problems.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import { duration, parseNameValues, type Reader, rate, wholeWithin, within } from './name-values.ts';
import type { Arrival } from './trace.ts';

/** `size` tasks within 200 ms, at random times, on average every `every` ms. */
interface Bursts {
  readonly size: number;
  readonly every: Millis;
}

export interface Load {
  /** Tasks per second, without the bursts. */
  readonly rate: number;
  readonly bursts: Bursts | null;
  readonly targets: number;
  /** 0: all Targets get the same share; 1: the second Target gets half as many tasks as the first. */
  readonly skew: number;
  /** Bytes of a payload; more if its grouping values need more. */
  readonly payload: number;
  readonly duration: Millis;
}

const WITHIN: Millis = 200;

const bursts: Reader<Bursts> = {
  read: (text) => {
    const [, size, every = ''] = /^(\d{1,7})x?\/(.+)$/.exec(text) ?? [];
    const span = duration.read(every);
    return size === undefined || Number(size) === 0 || !span ? undefined : { size: Number(size), every: span };
  },
  takes: 'a number of tasks and an average interval, such as 500x/10s',
};

const READERS = {
  rate,
  bursts,
  targets: wholeWithin(1, 1_000_000),
  skew: within(0, 5),
  payload: wholeWithin(2, 256_000),
  duration,
};

/** Parses `--load`: `rate=100/s targets=50 skew=1 bursts=500x/10s payload=300 duration=10m`. */
export const loadFrom = (text: string): Parsed<Load> => {
  const described = parseNameValues(text, READERS);
  if (!described.ok) return described;
  const { rate: perSecond = 0, bursts: some = null, ...rest } = described.value;
  const problems: Problem[] = [];
  if (perSecond === 0 && some === null) problems.push({ path: 'rate', reason: 'or bursts must be given' });
  if (rest.duration === 0) problems.push({ path: 'duration', reason: 'must be above 0' });
  if (problems.length > 0) return { ok: false, problems };
  const others = { targets: 1, skew: 0, payload: 300, duration: 600_000, ...rest };
  return { ok: true, value: { rate: perSecond, bursts: some, ...others } };
};

/** Why an operation cannot have this load. */
export const loadProblems = ({ targets }: Load, { operation, keys, merge }: Operation): Problem[] => {
  if (merge !== null)
    return [{ path: operation, reason: 'merges inputs, which a generated load does not have. Use --trace' }];
  if (targets > 1 && keys.length === 0)
    return [{ path: 'targets', reason: `must be 1: ${operation} groups by no field, so it has one Target` }];
  return [];
};

/** Generates the tasks of a load, one by one. */
export function* arrivalsOf(load: Load, { operation, keys }: Operation, seed: number): Generator<Arrival> {
  const target = byZipf(load, seeded(seedOf(seed, 'targets')));
  for (const at of momentsOf(load, seed))
    if (at < load.duration) yield { at: Math.floor(at), operation, payload: payloadOf(keys, target(), load.payload) };
    else return;
}

/** Times of tasks, in order and without end. */
function* momentsOf({ rate: perSecond, bursts: some }: Load, seed: number): Generator<Millis> {
  const [single, burst] = [seeded(seedOf(seed, 'tasks')), seeded(seedOf(seed, 'bursts'))];
  const after = (at: Millis): Millis =>
    perSecond === 0 ? Number.POSITIVE_INFINITY : at + untilNext(single, perSecond);
  const burstAfter = (at: Millis): Millis =>
    some === null ? Number.POSITIVE_INFINITY : at + untilNext(burst, 1_000 / some.every);
  const size = some?.size ?? 1;
  let [next, nextBurst] = [after(0), burstAfter(0)];
  let underWay: { readonly from: Millis; readonly sent: number }[] = [];
  const momentOf = ({ from, sent }: { from: Millis; sent: number }): Millis => from + (sent * WITHIN) / size;
  for (;;) {
    const first = underWay.reduce((least, each) => Math.min(least, momentOf(each)), Number.POSITIVE_INFINITY);
    if (nextBurst <= Math.min(next, first)) {
      underWay = [...underWay, { from: nextBurst, sent: 0 }];
      nextBurst = burstAfter(nextBurst);
    } else if (next <= first) {
      yield next;
      next = after(next);
    } else {
      yield first;
      const of = underWay.findIndex((each) => momentOf(each) === first);
      underWay = underWay
        .map((each, index) => (index === of ? { ...each, sent: each.sent + 1 } : each))
        .filter(({ sent }) => sent < size);
    }
  }
}

/** Random time until the next event, at an average rate of `perSecond` (exponential distribution). */
export const untilNext = (random: Random, perSecond: number): Millis =>
  -(Math.log(1 - random.next()) / perSecond) * 1_000;

const byZipf = ({ targets, skew }: Load, random: Random): (() => number) => {
  const upTo = new Float64Array(targets);
  let sum = 0;
  for (let n = 0; n < targets; n += 1) {
    sum += (n + 1) ** -skew;
    upTo[n] = sum;
  }
  return () => firstAbove(upTo, random.next() * sum);
};

/** Index of the first value above `value`; the values are in ascending order. */
const firstAbove = (values: Float64Array, value: number): number => {
  let [from, to] = [0, values.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((values[middle] ?? 0) > value) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** A payload whose grouping fields name the Target, padded to its size. */
const payloadOf = (keys: readonly string[], target: number, bytes: number): string => {
  const fields = JSON.stringify(
    nested(
      keys.map((key) => key.split('.')),
      `t${target + 1}`,
    ),
  );
  const begun = `${fields.slice(0, -1)}${keys.length > 0 ? ',' : ''}"":"`;
  const room = bytes - Buffer.byteLength(begun) - 2;
  return room >= 0 ? `${begun}${'x'.repeat(room)}"}` : fields;
};

const nested = (paths: readonly (readonly string[])[], value: string): object =>
  Object.fromEntries(
    [...Map.groupBy(paths, ([head = '']) => head)].map(([head, those]) => [
      head,
      those.some(({ length }) => length === 1)
        ? value
        : nested(
            those.map(([, ...rest]) => rest),
            value,
          ),
    ]),
  );
