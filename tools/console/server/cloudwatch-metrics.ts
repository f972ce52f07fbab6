/** Reads the metrics of a deployed stack from CloudWatch. This module is loaded only on demand. */
import {
  CloudWatchClient,
  type CloudWatchClientConfig,
  type MetricDataResult,
  paginateGetMetricData,
} from '@aws-sdk/client-cloudwatch';
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { inWords } from '../../account/failures.ts';
import { CommandFailure } from '../../failure.ts';
import { PRICES } from '../../simulate/prices.ts';
import { type Asked, askedFor, metricsBilled, queryFor, seriesFrom, type Window } from './cloudwatch-queries.ts';
import type { MetricsSource } from './metrics-feed.ts';
import { totalsOf } from './totals.ts';

export interface DeployedMetrics {
  /** The value of the dimension that every metric has: the stack's name, unless the stack has several instances. */
  readonly service: string;
  readonly region: string;
  /** Returns the names of the stack's operations, as last read. */
  readonly operations: () => readonly string[];
  /** Options of the CloudWatch client. @default - as the SDK finds them */
  readonly client?: CloudWatchClientConfig;
  readonly now?: () => Millis;
}

const HOUR: Millis = 3_600_000;
/**
 * Maximum number of steps of a time range. With 180 steps, no request exceeds CloudWatch's limit of 100,800 values.
 * Three hours have steps of a minute, the finest resolution in which CloudWatch stores the metrics.
 */
const STEPS = 180;
const USUAL: Millis = 3 * HOUR;
/** The longest time range. Its steps are whole minutes, as CloudWatch requires. */
const LONGEST: Millis = 24 * HOUR;
/** Maximum number of queries in one request (a limit of CloudWatch). */
const QUERIES_MAX = 500;

/** The price of one metric. */
const DOLLARS = PRICES.cloudWatch.perThousandMetricsRequested / 1_000;
const LEAST_SECONDS = 60;
/**
 * Maximum cost of reading the metrics. A stack with many operations would cost more at one request a minute, so its
 * metrics are read less often.
 */
const DOLLARS_PER_HOUR_MAX = 0.25;
/**
 * Minimum number of regular reads for each read of the longest time range. Each of its reads takes the place of a
 * regular one (see `metrics-feed.ts`), and the others must remain recent.
 */
const REGULAR_READS = 4;

export const cloudWatchMetrics = ({
  service,
  region,
  operations,
  client: config = {},
  now = Date.now,
}: DeployedMetrics): MetricsSource => {
  const client = new CloudWatchClient({ region, ...config });
  return {
    about: async () => {
      const dollars = metricsBilled(askedFor(operations())) * DOLLARS;
      const everySeconds = Math.max(LEAST_SECONDS, Math.ceil((dollars * 3_600) / DOLLARS_PER_HOUR_MAX));
      return {
        from: 'cloudwatch',
        everySeconds,
        dollarsPerHour: (dollars * 3_600) / everySeconds,
        window: USUAL,
        windows: [
          // The page cuts the last hour from the usual time range.
          { millis: HOUR, everySeconds },
          { millis: USUAL, everySeconds },
          { millis: LONGEST, everySeconds: Math.max(stepOf(LONGEST) / 1_000, REGULAR_READS * everySeconds) },
        ],
      };
    },
    look: async (millis = USUAL) => {
      const step = stepOf(millis);
      const window: Window = { from: (Math.floor(now() / step) - STEPS + 1) * step, step, steps: STEPS };
      const asked = askedFor(operations());
      const results = await refusalsInWords(service, region, () => resultsOf(client, asked, service, window));
      const series = seriesFrom(asked, results, window);
      const sums = series.map(({ metric, of, sum }) => ({ metric, of, sum: sum.reduce((all, one) => all + one, 0) }));
      return { ...window, series, totals: { since: window.from, operations: totalsOf(sums) } };
    },
  };
};

const stepOf = (window: Millis): Millis => window / STEPS;

const resultsOf = async (
  client: CloudWatchClient,
  asked: readonly Asked[],
  service: string,
  { from, step, steps }: Window,
): Promise<readonly MetricDataResult[]> => {
  const queries = asked.map((each, index) => queryFor(each, index, service, step));
  const results: MetricDataResult[] = [];
  for (let first = 0; first < queries.length; first += QUERIES_MAX)
    for await (const { MetricDataResults = [] } of paginateGetMetricData(
      { client },
      {
        MetricDataQueries: queries.slice(first, first + QUERIES_MAX),
        StartTime: new Date(from),
        EndTime: new Date(from + steps * step),
        ScanBy: 'TimestampAscending',
      },
    ))
      results.push(...MetricDataResults);
  const refused = results.find(({ StatusCode = 'Complete' }) => !['Complete', 'PartialData'].includes(StatusCode));
  if (refused) throw new CommandFailure(`CloudWatch did not return all metrics of ${service} (${refused.StatusCode})`);
  return results;
};

/** Explains errors of CloudWatch in more detail than {@link inWords} does. @throws CommandFailure */
const refusalsInWords = <T>(service: string, region: string, work: () => Promise<T>): Promise<T> =>
  inWords(`read the metrics of ${service}`, region, async () => {
    try {
      return await work();
    } catch (cause) {
      const words = cause instanceof Error ? refusal(cause) : undefined;
      if (words === undefined) throw cause;
      throw new CommandFailure(words, { cause });
    }
  });

const refusal = (cause: Error): string | undefined => {
  switch (cause.name) {
    case 'AccessDenied':
    case 'AccessDeniedException':
      return `the page shows no charts, because these credentials may not read metrics (${reasonOf(cause)}). Add the permission cloudwatch:GetMetricData: see docs/reference/console.md`;
    case 'Throttling':
    case 'ThrottlingException':
    case 'LimitExceededException':
      return `CloudWatch throttles requests at the moment (${reasonOf(cause)}). The charts are updated later`;
    default:
      return undefined;
  }
};
