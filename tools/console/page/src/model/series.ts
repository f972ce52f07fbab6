/** Sums, means and rates of the metrics from the console's server. Pure. */

import type { MetricName } from '../../../../../src/domain/events/metrics.ts';
import type { MetricsView, Series } from '../../../server/shapes.ts';

const MINUTE = 60_000;

type Of = Series['of'];

/**
 * The values of one metric, summed over the selected dimensions. Each list has one element for each step, oldest first.
 */
export interface Steps {
  readonly sum: readonly number[];
  readonly count: readonly number[];
  readonly max: readonly number[];
}

/**
 * @param of the dimensions to select. A dimension that is not named is summed over all its values. @returns undefined
 * if the metric has no value.
 */
export const stepsOf = (view: MetricsView, metric: MetricName, of: Of = {}): Steps | undefined => {
  const wanted = Object.entries(of);
  const series = view.series.filter(
    (each) => each.metric === metric && wanted.every(([name, value]) => each.of[name as keyof Of] === value),
  );
  const [first, ...others] = series;
  return first && others.reduce<Steps>(together, first);
};

const together = (a: Steps, b: Steps): Steps => ({
  sum: a.sum.map((value, index) => value + (b.sum[index] ?? 0)),
  count: a.count.map((value, index) => value + (b.count[index] ?? 0)),
  max: a.max.map((value, index) => Math.max(value, b.max[index] ?? 0)),
});

/** The sum over all steps. */
export const totalOf = (view: MetricsView | undefined, metric: MetricName, of: Of = {}): number =>
  (view ? (stepsOf(view, metric, of)?.sum ?? []) : []).reduce((sum, value) => sum + value, 0);

/** Number of steps that make up the last minute. The last step is the current, incomplete one. */
const stepsOfMinute = ({ step }: MetricsView): number => Math.max(1, Math.round(MINUTE / step));

/** The rate per minute over the last minute, or over the last step if a step is longer than a minute. */
export const perMinute = (view: MetricsView, metric: MetricName, of: Of = {}): number => {
  const steps = stepsOfMinute(view);
  const sum = (stepsOf(view, metric, of)?.sum ?? []).slice(-steps).reduce((all, value) => all + value, 0);
  return (sum * MINUTE) / (steps * view.step);
};

/** The mean of the values of the last minute. Undefined if there are no values. */
export const meanOfMinute = (view: MetricsView, metric: MetricName, of: Of = {}): number | undefined => {
  const steps = stepsOf(view, metric, of);
  const last = (list: readonly number[] = []): number => list.slice(-stepsOfMinute(view)).reduce((a, b) => a + b, 0);
  const values = last(steps?.count);
  return values === 0 ? undefined : last(steps?.sum) / values;
};

/** How far back the latest value of a gauge is looked for: the sweep measures it once a minute. */
const GAUGE_WITHIN = 3 * MINUTE;

/** The latest value of a metric that is measured once a minute. Undefined if there is none in the last minutes. */
export const latestMax = (view: MetricsView, metric: MetricName): number | undefined =>
  maxima(stepsOf(view, metric))
    .slice(-Math.max(2, Math.round(GAUGE_WITHIN / view.step)))
    .findLast((value) => value !== null) ?? undefined;

/** The sum of each step. A step without a value has the sum 0. */
export const sums = (view: MetricsView, metric: MetricName, of: Of = {}): readonly number[] => {
  const steps = stepsOf(view, metric, of);
  return Array.from({ length: view.steps }, (_, index) => steps?.sum[index] ?? 0);
};

/** The mean of each step. Null if a step has no value, which leaves a gap in the chart. */
export const means = (steps: Steps | undefined): (number | null)[] =>
  (steps?.sum ?? []).map((sum, index) => {
    const values = steps?.count[index] ?? 0;
    return values === 0 ? null : sum / values;
  });

/** The largest value of each step. Null if a step has no value. */
export const maxima = (steps: Steps | undefined): (number | null)[] =>
  (steps?.max ?? []).map((max, index) => ((steps?.count[index] ?? 0) === 0 ? null : max));

/** The start times of the steps, in seconds since the epoch, as the charts need them. */
export const moments = ({ from, step, steps }: MetricsView): number[] =>
  Array.from({ length: steps }, (_, index) => (from + index * step) / 1_000);

/** The last part of the time range. @param millis its length, at most that of the view. */
export const lastPart = (view: MetricsView, millis: number): MetricsView => {
  const steps = Math.min(view.steps, Math.ceil(millis / view.step));
  const last = (list: readonly number[]): readonly number[] => list.slice(-steps);
  return {
    ...view,
    from: view.from + (view.steps - steps) * view.step,
    steps,
    series: view.series.map((each) => ({ ...each, sum: last(each.sum), count: last(each.count), max: last(each.max) })),
  };
};

/**
 * The start of the last step in which any of these metrics has a value, in milliseconds since the epoch. Undefined if
 * there is no such step.
 */
export const lastSeen = (view: MetricsView, metrics: readonly MetricName[], of: Of = {}): number | undefined => {
  const found = metrics.flatMap((metric) => {
    const index = (stepsOf(view, metric, of)?.sum ?? []).findLastIndex((value) => value > 0);
    return index < 0 ? [] : [view.from + index * view.step];
  });
  return found.length === 0 ? undefined : Math.max(...found);
};
