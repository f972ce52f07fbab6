/** The metrics of a local stack: sums of the stack's events in memory, for each step and in total. */
import type { FlowEvent } from '../../../src/domain/events/events.ts';
import { measured } from '../../../src/domain/events/measure.ts';
import type { MetricName } from '../../../src/domain/events/metrics.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import type { MetricsSource } from './metrics-feed.ts';
import type { MetricsView, Series } from './shapes.ts';
import { totalsOf } from './totals.ts';

export interface LocalMetrics extends MetricsSource {
  add(event: FlowEvent): void;
  /** Number of values that were added. It has changed if there is something to save. */
  added(): number;
  /** A copy of all values, from which {@link localMetrics} continues after a restart. */
  saved(): SavedMetrics;
}

/** The metrics as the data folder keeps them over a restart. */
export interface SavedMetrics {
  /** The time from which on the totals are summed. */
  readonly since: Millis;
  readonly savedAt: Millis;
  readonly series: readonly SavedSeries[];
}

interface SavedSeries {
  readonly metric: MetricName;
  readonly of: Series['of'];
  /** The total since `since`. */
  readonly sum: number;
  /** For each of {@link WINDOWS}, the steps with values: the number of the step, its sum, count and maximum, and so on. */
  readonly steps: readonly (readonly number[])[];
}

const MINUTE: Millis = 60_000;
const HOUR = 60 * MINUTE;
/** Number of steps of each time range. */
const STEPS = 180;
/**
 * The time ranges that the charts can show, the shortest first, and how often the page receives each. A longer time
 * range has longer steps, so that all take the same memory.
 */
export const WINDOWS = [
  { millis: 15 * MINUTE, everySeconds: 2 },
  { millis: HOUR, everySeconds: 5 },
  { millis: 6 * HOUR, everySeconds: 15 },
  { millis: 24 * HOUR, everySeconds: 30 },
] as const;
const [SHORTEST] = WINDOWS;
const stepOf = ({ millis }: { readonly millis: Millis }): Millis => millis / STEPS;

/**
 * Maximum number of steps with values that are saved, so that the saved metrics have at most about 3 MB. Beyond it, the
 * finest steps are left out. It is enough for five operations that work all day.
 */
const SAVED_MAX = 100_000;

/** The values of one step. `step` is the number of the step, counted from the epoch. */
interface Cell {
  readonly step: number;
  sum: number;
  count: number;
  max: number;
}

/** The last steps of one time range: step `n` has the index `n % STEPS`. */
type Ring = Cell[];

/** The sums of one metric with its dimensions. The configuration limits the number of combinations. */
interface Summed {
  readonly metric: MetricName;
  readonly of: Series['of'];
  /** The total since the start. */
  sum: number;
  /** One ring for each of {@link WINDOWS}. */
  readonly rings: readonly Ring[];
}

/** @param earlier the metrics of the previous run, which are continued. */
export const localMetrics = (now: () => Millis = Date.now, earlier?: SavedMetrics): LocalMetrics => {
  const since = Math.min(now(), earlier?.since ?? now());
  const all = new Map((earlier?.series ?? []).map((each) => [keyOf(each), summedFrom(each)]));
  let added = 0;

  const summed = (metric: MetricName, of: Series['of']): Summed => {
    const key = keyOf({ metric, of });
    const found = all.get(key) ?? { metric, of, sum: 0, rings: WINDOWS.map(() => []) };
    all.set(key, found);
    return found;
  };
  const add = (event: FlowEvent): void => {
    const at = now();
    for (const { of, values } of measured(event))
      for (const [name, value] of Object.entries(values)) {
        addTo(summed(name as MetricName, of), at, value);
        added += 1;
      }
  };
  const look = async (millis: Millis = SHORTEST.millis): Promise<MetricsView> => {
    const index = WINDOWS.findIndex((window) => window.millis === millis);
    const step = millis / STEPS;
    const first = Math.floor(now() / step) - STEPS + 1;
    const sums = [...all.values()];
    const series = sums
      .map((each) => seriesOf(each, each.rings[index] ?? [], first))
      .filter(({ count }) => count.some((one) => one > 0));
    return { from: first * step, step, steps: STEPS, series, totals: { since, operations: totalsOf(sums) } };
  };
  return {
    add,
    look,
    added: () => added,
    saved: () => ({ since, savedAt: now(), series: savedFrom([...all.values()], now()) }),
    about: async () => ({
      from: 'this-process',
      everySeconds: SHORTEST.everySeconds,
      dollarsPerHour: 0,
      window: SHORTEST.millis,
      windows: WINDOWS,
    }),
  };
};

const keyOf = ({ metric, of }: Pick<Summed, 'metric' | 'of'>): string =>
  JSON.stringify([metric, Object.entries(of).toSorted()]);

const addTo = (to: Summed, at: Millis, value: number): void => {
  to.sum += value;
  for (const [index, window] of WINDOWS.entries()) {
    const ring = to.rings[index] ?? [];
    const step = Math.floor(at / stepOf(window));
    const cell = ring[step % STEPS];
    if (cell?.step !== step) ring[step % STEPS] = { step, sum: value, count: 1, max: value };
    else Object.assign(cell, { sum: cell.sum + value, count: cell.count + 1, max: Math.max(cell.max, value) });
  }
};

const seriesOf = ({ metric, of }: Summed, ring: Ring, first: number): Series => {
  const some = Array.from({ length: STEPS }, (_, index) => {
    const cell = ring[(first + index) % STEPS];
    return cell?.step === first + index ? cell : undefined;
  });
  return {
    metric,
    of,
    sum: some.map((cell) => cell?.sum ?? 0),
    count: some.map((cell) => cell?.count ?? 0),
    max: some.map((cell) => cell?.max ?? 0),
  };
};

/** Copies the steps that a time range still shows, beginning with the longest range, up to {@link SAVED_MAX}. */
const savedFrom = (all: readonly Summed[], now: Millis): readonly SavedSeries[] => {
  const kept = all.map(({ rings }) =>
    rings.map((ring, index) => {
      const step = stepOf(WINDOWS[index] ?? SHORTEST);
      return ring.filter((cell) => cell.step > Math.floor(now / step) - STEPS);
    }),
  );
  let left = SAVED_MAX;
  const isSaved = WINDOWS.toReversed()
    .map((_, index) => {
      const size = kept.reduce((sum, rings) => sum + (rings[WINDOWS.length - 1 - index]?.length ?? 0), 0);
      if (size > left) return false;
      left -= size;
      return true;
    })
    .toReversed();
  return all.map(({ metric, of, sum }, nth) => ({
    metric,
    of,
    sum,
    steps: (kept[nth] ?? []).map((cells, index) => (isSaved[index] ? cells.flatMap(numbersOf) : [])),
  }));
};

const numbersOf = ({ step, sum, count, max }: Cell): number[] => [step, rounded(sum), count, rounded(max)];

/** Three decimals: a mean of percents or milliseconds needs no more, and the file stays small. */
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

const summedFrom = ({ metric, of, sum, steps }: SavedSeries): Summed => ({
  metric,
  of,
  sum,
  rings: WINDOWS.map((_, index) => ringOf(steps[index] ?? [])),
});

const ringOf = (numbers: readonly number[]): Ring => {
  const ring: Ring = [];
  for (let at = 0; at < numbers.length; at += 4) {
    const [step = 0, sum = 0, count = 0, max = 0] = numbers.slice(at, at + 4);
    ring[step % STEPS] = { step, sum, count, max };
  }
  return ring;
};
