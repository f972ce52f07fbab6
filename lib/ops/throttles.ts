/** The alarms on functions, tables and indexes that AWS throttles. */
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { STEP } from '../instance-metrics.ts';
import type { Resources, Store } from './resources.ts';
import { LASTING, type Watch } from './watch.ts';

export const watchesOfThrottling = ({ functions, stores }: Resources): Watch[] => [
  ...Object.entries(functions).map(
    ([name, fn]): Watch => ({
      id: `Throttled-${name}`,
      metric: fn.metric('Throttles', { period: STEP, statistic: Stats.SUM }),
      threshold: 1,
      periods: LASTING,
      says: `The ${name} function is throttled`,
      todo: 'its work is late, and no stored task is lost. Raise the quota of concurrent executions of the account, or find out which functions use it up',
      section: 'a-function-is-throttled',
    }),
  ),
  ...stores.flatMap((store) => (store.isIndex ? [watchOfIndex(store)] : watchesOfTable(store))),
];

const watchesOfTable = (table: Store): Watch[] =>
  (['Read', 'Write'] as const).map((kind) => ({
    id: `${kind}Throttled-${table.name}`,
    metric: table.metric(`${kind}ThrottleEvents`, { period: STEP, statistic: Stats.SUM }),
    threshold: 1,
    periods: LASTING,
    says: `${kind}s of the table ${table.name} are throttled`,
    todo: 'calls are retried, so tasks are late, and nothing is lost. Find the hot Target or operation, then split it (shards) or slow down its producers',
    section: 'a-table-is-throttled',
  }));

/**
 * DynamoDB refuses a write of a table if an index of the table has no capacity for it, and the table's own metrics do
 * not show why. Reads of an index have no alarm: they are few, a throttled read delays only its own reader, and the
 * sweep, which reads most, has its own alarms.
 */
const watchOfIndex = (index: Store): Watch => ({
  id: `IndexThrottled-${index.name}`,
  metric: index.metric('WriteThrottleEvents', { period: STEP, statistic: Stats.SUM }),
  threshold: 1,
  periods: LASTING,
  says: `Writes of the index ${index.name} are throttled, so DynamoDB refuses writes of its table`,
  todo: 'calls are retried, so tasks are late, and nothing is lost. Find out which operation writes so many rows to the index, then slow it down or split it into two operations',
  section: 'an-index-is-throttled',
});
