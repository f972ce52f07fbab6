/**
 * Reads from CloudWatch what AWS throttled in the last hour: invocations of functions, reads and writes of tables and
 * their indexes.
 */
import { CloudWatchClient, type Metric, type MetricDataQuery, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Deployed } from './settings.ts';

export interface Throttled {
  /** Name of the function or table, or `TABLE/index/INDEX`. */
  readonly what: string;
  /** Whether an index was throttled. DynamoDB then refuses writes of its table too. */
  readonly isIndex?: true;
  readonly kind: 'invocations' | 'reads' | 'writes';
  readonly times: number;
}

const HOUR = 60 * MINUTE;

/** @returns functions, tables and indexes that were throttled, most often first. */
export const throttledIn = async (
  client: CloudWatchClient,
  { functions, tables }: Pick<Deployed, 'functions' | 'tables'>,
  now: number,
): Promise<readonly Throttled[]> => {
  const asked = [
    ...functions.map(ofFunction),
    ...tables.flatMap(({ name, indexes }) => [...ofTable(name), ...indexes.flatMap((index) => ofTable(name, index))]),
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
    .map(({ of }, index) => ({ ...of, times: sums.get(idOf(index)) ?? 0 }))
    .filter(({ times }) => times > 0)
    .toSorted((a, b) => b.times - a.times);
};

interface Asked {
  readonly of: Omit<Throttled, 'times'>;
  readonly metric: Metric;
}

const ofFunction = (name: string): Asked => ({
  of: { what: name, kind: 'invocations' },
  metric: {
    Namespace: 'AWS/Lambda',
    MetricName: 'Throttles',
    Dimensions: [{ Name: 'FunctionName', Value: name }],
  },
});

/** @param index the index to ask about instead of the table. */
const ofTable = (table: string, index?: string): Asked[] =>
  (['Read', 'Write'] as const).map((kind) => ({
    of: {
      what: index === undefined ? table : `${table}/index/${index}`,
      kind: kind === 'Read' ? 'reads' : 'writes',
      ...(index === undefined ? {} : { isIndex: true }),
    },
    metric: {
      Namespace: 'AWS/DynamoDB',
      MetricName: `${kind}ThrottleEvents`,
      Dimensions: [
        { Name: 'TableName', Value: table },
        ...(index === undefined ? [] : [{ Name: 'GlobalSecondaryIndexName', Value: index }]),
      ],
    },
  }));

const idOf = (index: number): string => `q${index}`;

const queryOf = ({ metric }: Asked, index: number): MetricDataQuery => ({
  Id: idOf(index),
  MetricStat: { Metric: metric, Period: HOUR / 1_000, Stat: 'Sum' },
});

/** A client with the credentials and region of the given client. */
export const cloudWatchLike = (config: Pick<CloudWatchClient['config'], 'credentials' | 'region'>): CloudWatchClient =>
  new CloudWatchClient({ credentials: config.credentials, region: config.region });
