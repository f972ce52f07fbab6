/** Lines of graphs: one for each operation, table, queue or function, labelled by its name. */
import { GraphWidget, type GraphWidgetProps, type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { type OfOperation, STEP } from './measured.ts';
import type { Watched } from './watched.ts';

/** Three graphs in a row of 24, each with room for its legend. */
const [WIDTH, HEIGHT] = [8, 5];

export const graph = (
  title: string,
  metrics: readonly IMetric[],
  more: Pick<GraphWidgetProps, 'stacked' | 'leftAnnotations'> = {},
): GraphWidget =>
  new GraphWidget({ title, left: [...metrics], leftYAxis: { min: 0 }, width: WIDTH, height: HEIGHT, ...more });

/** A line an operation, or several where there are several metrics. */
export const byOperation = (
  { operations, measured }: Watched,
  names: readonly OfOperation[],
  statistic?: string,
): IMetric[] =>
  names.flatMap((name) =>
    operations.map(({ operation }) =>
      measured(
        name,
        { operation },
        {
          label: names.length === 1 ? operation : `${operation} ${name}`,
          ...(statistic === undefined ? {} : { statistic }),
        },
      ),
    ),
  );

/** The largest of a step, of each of these queues. */
export const ofQueues = (queues: Readonly<Record<string, IQueue>>, metric: string): IMetric[] =>
  Object.entries(queues).map(([label, queue]) =>
    queue.metric(metric, { label, period: STEP, statistic: Stats.MAXIMUM }),
  );

export const ofFunctions = (functions: ReadonlyMap<string, IFunction>, metric: string, statistic: string): IMetric[] =>
  [...functions].map(([label, fn]) => fn.metric(metric, { label, period: STEP, statistic }));

export const ofTables = (tables: Readonly<Record<string, Table>>, metrics: readonly string[]): IMetric[] =>
  Object.entries(tables).flatMap(([name, table]) =>
    metrics.map((metric) =>
      table.metric(metric, {
        label: metrics.length === 1 ? name : `${name} ${metric}`,
        period: STEP,
        statistic: Stats.SUM,
      }),
    ),
  );

/** The queues that λs work off. */
export const workingQueues = ({ flow }: Watched): Readonly<Record<string, IQueue>> =>
  Object.fromEntries(Object.entries(flow.workingQueues).map(([name, { queue }]) => [name, queue]));
