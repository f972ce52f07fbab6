/** Reads from CloudWatch what AWS throttled in the last hour: invocations of functions, reads and writes of tables. */
import { CloudWatchClient, type MetricDataQuery, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Deployed } from './settings.ts';

export interface Throttled {
  /** Name of the function or table. */
  readonly what: string;
  readonly kind: 'invocations' | 'reads' | 'writes';
  readonly times: number;
}

const HOUR = 60 * MINUTE;

/** @returns functions and tables that were throttled, most often first. */
export const throttledIn = async (
  client: CloudWatchClient,
  { functions, tables }: Pick<Deployed, 'functions' | 'tables'>,
  now: number,
): Promise<readonly Throttled[]> => {
  const asked = [
    ...functions.map((what) => ({ what, kind: 'invocations', metric: 'Throttles' }) as const),
    ...tables.flatMap(
      ({ name: what }) =>
        [
          { what, kind: 'reads', metric: 'ReadThrottleEvents' },
          { what, kind: 'writes', metric: 'WriteThrottleEvents' },
        ] as const,
    ),
  ];
  const sums = new Map<string, number>();
  for await (const { MetricDataResults = [] } of paginateGetMetricData(
    { client },
    {
      MetricDataQueries: asked.map(queryOf),
      StartTime: new Date(now - HOUR),
      EndTime: new Date(now),
    },
  ))
    for (const { Id = '', Values = [] } of MetricDataResults)
      sums.set(
        Id,
        Values.reduce((sum, value) => sum + value, sums.get(Id) ?? 0),
      );
  return asked
    .map(({ what, kind }, index) => ({ what, kind, times: sums.get(idOf(index)) ?? 0 }))
    .filter(({ times }) => times > 0)
    .toSorted((a, b) => b.times - a.times);
};

const idOf = (index: number): string => `q${index}`;

const queryOf = (
  { what, kind, metric }: { readonly what: string; readonly kind: Throttled['kind']; readonly metric: string },
  index: number,
): MetricDataQuery => {
  const isFunction = kind === 'invocations';
  return {
    Id: idOf(index),
    MetricStat: {
      Metric: {
        Namespace: isFunction ? 'AWS/Lambda' : 'AWS/DynamoDB',
        MetricName: metric,
        Dimensions: [{ Name: isFunction ? 'FunctionName' : 'TableName', Value: what }],
      },
      Period: HOUR / 1_000,
      Stat: 'Sum',
    },
  };
};

/** A client with the credentials and region of the given client. */
export const cloudWatchLike = (config: Pick<CloudWatchClient['config'], 'credentials' | 'region'>): CloudWatchClient =>
  new CloudWatchClient({ credentials: config.credentials, region: config.region });
