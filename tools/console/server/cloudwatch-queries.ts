/** The queries for a stack's metrics, and the series made of CloudWatch's answers. Pure. */

import type { MetricDataQuery, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import type { SealReason } from '../../../src/domain/batches/policy.ts';
import { METRICS, type MetricName, NAMESPACE, REPAIRED, STACK_DIMENSION } from '../../../src/domain/events/metrics.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import type { Series } from './shapes.ts';

/** The metrics that the page shows for each operation. Each additional metric costs money. */
const SHOWN = [
  'TasksRegistered',
  'TasksSucceeded',
  'TasksFailed',
  'BatchesSealed',
  'FillRatio',
  'Wait',
  'OldestWaiting',
  'DownstreamCalls',
  'DownstreamErrors',
  'DownstreamLatency',
  // These metrics show whether an error occurred.
  'TasksRejected',
  'CircuitOpened',
  ...REPAIRED,
] as const satisfies readonly MetricName[];

/** The metrics of lists and fan-outs, which have no operation. */
const SHOWN_ONCE = [
  'JobsAvailable',
  'JobsLeased',
  'OldestList',
  'MostDeliveries',
  'JobsUndeliverable',
  'ClaimsRefused',
  'FanOutsOpen',
  'OldestFanOut',
  'FanOutsCompleted',
  'FanOutsFailed',
  'FanOutsExpired',
] as const satisfies readonly MetricName[];

/** Counts of what there is at a moment. A sum over several minutes has no meaning. */
const GAUGES: ReadonlySet<MetricName> = new Set(['JobsAvailable', 'JobsLeased', 'MostDeliveries', 'FanOutsOpen']);

/** This is an object instead of a list, so that a new reason does not compile until it is added here. */
const REASONS: Readonly<Record<SealReason, true>> = {
  full: true,
  bytes: true,
  weight: true,
  waited: true,
  quiet: true,
  bypass: true,
  flush: true,
};

/** The statistics, in the order of the fields of `Series`. */
const STATISTICS = { sum: 'Sum', count: 'SampleCount', max: 'Maximum' } as const;

/** One query: a statistic of a metric with its dimensions. CloudWatch answers with one list of numbers. */
export interface Asked {
  readonly metric: MetricName;
  readonly of: Series['of'];
  readonly statistic: keyof typeof STATISTICS;
}

/** The queries for these operations, and for lists and fan-outs. */
export const askedFor = (operations: readonly string[]): readonly Asked[] => [
  ...operations.flatMap((operation) =>
    SHOWN.flatMap((metric) => dimensionsOf(metric, operation).flatMap((of) => statisticsOf(metric, of))),
  ),
  ...SHOWN_ONCE.flatMap((metric) => statisticsOf(metric, {})),
];

/** Counts of events need only the sum. Gauges, and metrics with a mean, need all three statistics. */
const statisticsOf = (metric: MetricName, of: Series['of']): readonly Asked[] =>
  (METRICS[metric].unit === 'Count' && !GAUGES.has(metric)
    ? (['sum'] as const)
    : (['sum', 'count', 'max'] as const)
  ).map((statistic) => ({ metric, of, statistic }));

/** The number of metrics that CloudWatch bills: up to five statistics of one metric in a request count as one. */
export const metricsBilled = (asked: readonly Asked[]): number =>
  new Set(asked.map(({ metric, of }) => JSON.stringify([metric, of]))).size;

const dimensionsOf = (metric: (typeof SHOWN)[number], operation: string): readonly Series['of'][] =>
  METRICS[metric].by.some((name) => name === 'reason')
    ? Object.keys(REASONS).map((reason) => ({ operation, reason }))
    : [{ operation }];

/**
 * @param index the index of the query in the list of {@link Asked}. The id of the query contains the index, so that the
 * answer can be assigned to the query. @param step in milliseconds.
 */
export const queryFor = (
  { metric, of, statistic }: Asked,
  index: number,
  service: string,
  step: Millis,
): MetricDataQuery => ({
  Id: `q${index}`,
  MetricStat: {
    Metric: {
      Namespace: NAMESPACE,
      MetricName: metric,
      Dimensions: Object.entries({ [STACK_DIMENSION]: service, ...of }).map(([Name, Value]) => ({ Name, Value })),
    },
    Period: step / 1_000,
    Stat: STATISTICS[statistic],
  },
});

/** The time range of the charts. It consists of whole steps. The last step is the current, incomplete one. */
export interface Window {
  readonly from: Millis;
  readonly step: Millis;
  readonly steps: number;
}

/** @param results the results of all pages. One query's result may be split over several pages. */
export const seriesFrom = (
  asked: readonly Asked[],
  results: readonly MetricDataResult[],
  window: Window,
): readonly Series[] => {
  const bySeries = Map.groupBy(
    results.flatMap((result) => {
      const one = asked[Number(result.Id?.slice(1))];
      return one ? [{ one, result }] : [];
    }),
    ({ one: { metric, of } }) => JSON.stringify([metric, of]),
  );
  return [...bySeries.values()].flatMap((parts) => {
    const [first] = parts;
    const numbers = (wanted: Asked['statistic']): number[] =>
      listOf(
        parts.filter(({ one }) => one.statistic === wanted).map(({ result }) => result),
        window,
      );
    const [sum, count, max] = [numbers('sum'), numbers('count'), numbers('max')];
    const { metric, of } = first?.one ?? {};
    return metric && of && parts.some(({ result }) => result.Values?.length) ? [{ metric, of, sum, count, max }] : [];
  });
};

const listOf = (results: readonly MetricDataResult[], { from, step, steps }: Window): number[] => {
  const list = Array.from({ length: steps }, () => 0);
  for (const { Timestamps = [], Values = [] } of results)
    for (const [index, time] of Timestamps.entries()) {
      const at = Math.floor((time.getTime() - from) / step);
      if (at >= 0 && at < steps) list[at] = Values[index] ?? 0;
    }
  return list;
};
