/** The metrics of a deployed stack, from CloudWatch. Loaded only where it is asked for. */
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
import { type Asked, askedFor, queryFor, seriesFrom, type Window } from './cloudwatch-queries.ts';
import type { MetricsSource } from './metrics-feed.ts';
import { totalsOf } from './totals.ts';

export interface DeployedMetrics {
  /** A dimension of each metric: the stack's name, unless it has several instances. */
  readonly service: string;
  readonly region: string;
  /** The names of its operations, as far as they are known. */
  readonly operations: () => readonly string[];
  /** For the client. @default - as the SDK finds them */
  readonly client?: CloudWatchClientConfig;
  readonly now?: () => Millis;
}

/** As fine as CloudWatch keeps them. */
const STEP: Millis = 60_000;
/** Three hours. With these no request comes to more than the 100,800 values that one may ask for. */
const STEPS = 180;
/** Of one request. */
const QUERIES_MAX = 500;

/** CloudWatch takes $0.01 for 1,000 metrics, and each statistic of each metric is taken for one. */
const DOLLARS = 0.01 / 1_000;
const LEAST_SECONDS = 60;
/** With so many operations that it would cost more they are looked at more seldom. */
const DOLLARS_PER_HOUR_MAX = 0.25;

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
      const dollars = askedFor(operations()).length * DOLLARS;
      const everySeconds = Math.max(LEAST_SECONDS, Math.ceil((dollars * 3_600) / DOLLARS_PER_HOUR_MAX));
      return { from: 'cloudwatch', everySeconds, dollarsPerHour: (dollars * 3_600) / everySeconds };
    },
    look: async () => {
      const window: Window = { from: (Math.floor(now() / STEP) - STEPS + 1) * STEP, step: STEP, steps: STEPS };
      const asked = askedFor(operations());
      const results = await refusalsInWords(service, region, () => resultsOf(client, asked, service, window));
      const series = seriesFrom(asked, results, window);
      const sums = series.map(({ metric, of, sum }) => ({ metric, of, sum: sum.reduce((all, one) => all + one, 0) }));
      return { from: window.from, step: STEP, series, totals: { since: window.from, operations: totalsOf(sums) } };
    },
  };
};

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
  if (refused) throw new CommandFailure(`CloudWatch could not say all metrics of ${service} (${refused.StatusCode})`);
  return results;
};

/** What these say of metrics is more than what they say of anything else. @throws CommandFailure */
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
      return `there are no charts: these credentials may not read metrics (${reasonOf(cause)}): they need cloudwatch:GetMetricData, see docs/reference/console.md`;
    case 'Throttling':
    case 'ThrottlingException':
    case 'LimitExceededException':
      return `CloudWatch is asked for too much at the moment (${reasonOf(cause)}): the metrics come later`;
    default:
      return undefined;
  }
};
