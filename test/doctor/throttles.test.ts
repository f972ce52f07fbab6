import { CloudWatchClient, type GetMetricDataCommandInput, type Metric } from '@aws-sdk/client-cloudwatch';
import { expect, it } from 'vitest';
import { settingsLines } from '../../tools/cli/commands/doctor/settings.ts';
import { throttledIn } from '../../tools/doctor/throttles.ts';

/** The dimensions as one text, such as `TableName=Task`. */
const dimensionsOf = ({ Dimensions = [] }: Metric = {}): string =>
  Dimensions.map(({ Name, Value }) => `${Name}=${Value}`).join();

/** A client that answers like CloudWatch: a metric has a value only under exactly its own dimensions. */
const cloudWatch = (values: Readonly<Record<string, number>>): CloudWatchClient =>
  Object.assign(new CloudWatchClient({ region: 'eu-test-1' }), {
    send: async ({ input }: { input: GetMetricDataCommandInput }) => ({
      MetricDataResults: input.MetricDataQueries?.map(({ Id, MetricStat: { Metric: metric } = {} }) => {
        const value = values[`${metric?.MetricName} ${dimensionsOf(metric)}`];
        return { Id, Values: value === undefined ? [] : [value] };
      }),
    }),
  });

const deployed = { functions: ['group'], tables: [{ name: 'Lock', forgets: true, indexes: ['Targets'] }] };

it('the doctor reports throttled functions, tables and indexes, most often first', async () => {
  const client = cloudWatch({
    'Throttles FunctionName=group': 1,
    'ReadThrottleEvents TableName=Lock': 4,
    'WriteThrottleEvents TableName=Lock,GlobalSecondaryIndexName=Targets': 3,
    'ReadThrottleEvents TableName=Lock,GlobalSecondaryIndexName=Targets': 2,
  });
  const throttled = await throttledIn(client, deployed, 0);
  expect(settingsLines({ contradictions: [], throttled, unseen: [] })).toEqual([
    expect.stringMatching(/^Lock: AWS throttled 4 reads .*#a-table-is-throttled$/),
    expect.stringMatching(
      /^Lock\/index\/Targets: AWS throttled 3 writes .*, so writes of its table failed too .*#an-index-is-throttled$/,
    ),
    expect.stringMatching(/^Lock\/index\/Targets: AWS throttled 2 reads in the last hour → .*#an-index-is-throttled$/),
    expect.stringMatching(/^group: AWS throttled 1 invocation .*#a-function-is-throttled$/),
  ]);
});

it('the doctor reports nothing if nothing was throttled', async () =>
  expect(await throttledIn(cloudWatch({}), deployed, 0)).toEqual([]));
