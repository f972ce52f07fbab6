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
}

const STEP: Millis = 5_000;
/** Number of steps, which cover 15 minutes. */
const STEPS = 180;
const EVERY_SECONDS = 2;

/** The values of one step. `step` is the number of the step, counted from the epoch. */
interface Cell {
  step: number;
  sum: number;
  count: number;
  max: number;
}

/** The sums of one metric with its dimensions. The configuration limits the number of combinations. */
interface Summed {
  readonly metric: MetricName;
  readonly of: Series['of'];
  /** The total since the start. */
  sum: number;
  /** A ring of the last steps: step `n` has the index `n % STEPS`. */
  readonly cells: Cell[];
}

export const localMetrics = (now: () => Millis = Date.now): LocalMetrics => {
  const since = now();
  const all = new Map<string, Summed>();
  const present = (): number => Math.floor(now() / STEP);

  const summed = (metric: MetricName, of: Series['of']): Summed => {
    const key = JSON.stringify([metric, Object.entries(of).toSorted()]);
    const found = all.get(key) ?? { metric, of, sum: 0, cells: [] };
    all.set(key, found);
    return found;
  };
  const add = (event: FlowEvent): void => {
    for (const { of, values } of measured(event))
      for (const [name, value] of Object.entries(values)) addTo(summed(name as MetricName, of), present(), value);
  };
  const look = async (): Promise<MetricsView> => {
    const first = present() - STEPS + 1;
    const sums = [...all.values()];
    const series = sums.map((each) => seriesOf(each, first)).filter(({ count }) => count.some((one) => one > 0));
    return { from: first * STEP, step: STEP, series, totals: { since, operations: totalsOf(sums) } };
  };
  return {
    add,
    look,
    about: async () => ({ from: 'this-process', everySeconds: EVERY_SECONDS, dollarsPerHour: 0 }),
  };
};

const addTo = (to: Summed, step: number, value: number): void => {
  to.sum += value;
  const cell = to.cells[step % STEPS];
  if (cell?.step !== step) to.cells[step % STEPS] = { step, sum: value, count: 1, max: value };
  else Object.assign(cell, { sum: cell.sum + value, count: cell.count + 1, max: Math.max(cell.max, value) });
};

const seriesOf = ({ metric, of, cells }: Summed, first: number): Series => {
  const some = Array.from({ length: STEPS }, (_, index) => {
    const cell = cells[(first + index) % STEPS];
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
