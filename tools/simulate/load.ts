/**
 * A described load: tasks that come by chance (a Poisson process), over Targets of which the n-th gets a share of 1/n^skew
 * (Zipf's law), and bursts beside. From a seed: the same seed, the same load. Memory holds the Targets and the bursts that are
 * under way.
 */

import type { Operation } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { groupBy } from '../../src/util/group-by.ts';
import type { Parsed, Problem } from '../../src/util/problems.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import { duration, parseNameValues, type Reader, rate, wholeWithin, within } from './name-values.ts';
import type { Arrival } from './trace.ts';

/** So many tasks within a fifth of a second, by chance, on average every `every`. */
interface Bursts {
  readonly size: number;
  readonly every: Millis;
}

export interface Load {
  /** Tasks a second, beside the bursts. */
  readonly rate: number;
  readonly bursts: Bursts | null;
  readonly targets: number;
  /** 0: all Targets get as much; 1: the second half as much as the first. */
  readonly skew: number;
  /** Bytes of a payload, at least what its grouping values take. */
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
  takes: 'how many tasks, and how often on average, such as 500x/10s',
};

const READERS = {
  rate,
  bursts,
  targets: wholeWithin(1, 1_000_000),
  skew: within(0, 5),
  payload: wholeWithin(2, 256_000),
  duration,
};

/** What a text such as `rate=100/s targets=50 skew=1 bursts=500x/10s payload=300 duration=10m` describes. */
export const loadFrom = (text: string): Parsed<Load> => {
  const described = parseNameValues(text, READERS);
  if (!described.ok) return described;
  const { rate: perSecond = 0, bursts: some = null, ...rest } = described.value;
  const problems: Problem[] = [];
  if (perSecond === 0 && some === null)
    problems.push({ path: 'rate', reason: 'or bursts must say how many tasks come' });
  if (rest.duration === 0) problems.push({ path: 'duration', reason: 'must be longer than nothing' });
  if (problems.length > 0) return { ok: false, problems };
  const others = { targets: 1, skew: 0, payload: 300, duration: 600_000, ...rest };
  return { ok: true, value: { rate: perSecond, bursts: some, ...others } };
};

/** What keeps an operation from having such a load. */
export const loadProblems = ({ targets }: Load, { operation, keys, merge }: Operation): Problem[] => {
  if (merge !== null)
    return [{ path: operation, reason: 'merges inputs, which a described load does not have: bring a trace' }];
  if (targets > 1 && keys.length === 0)
    return [{ path: 'targets', reason: `must be 1: ${operation} groups by no field, and has one Target` }];
  return [];
};

/** The tasks of a load, one by one. */
export function* arrivalsOf(load: Load, { operation, keys }: Operation, seed: number): Generator<Arrival> {
  const target = byZipf(load, seeded(seedOf(seed, 'targets')));
  for (const at of momentsOf(load, seed))
    if (at < load.duration) yield { at: Math.floor(at), operation, payload: payloadOf(keys, target(), load.payload) };
    else return;
}

/** When tasks come, endlessly and in order. */
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

/** How long until the next of what comes by chance, so many a second on average (exponential). */
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

/** The first index whose value is greater; values ascend. */
const firstAbove = (values: Float64Array, value: number): number => {
  let [from, to] = [0, values.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((values[middle] ?? 0) > value) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** Every grouping field names the Target; the rest of the payload's bytes is filled up. */
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
    [...groupBy(paths, ([head = '']) => head)].map(([head, those]) => [
      head,
      those.some(({ length }) => length === 1)
        ? value
        : nested(
            those.map(([, ...rest]) => rest),
            value,
          ),
    ]),
  );
