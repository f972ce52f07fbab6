/** The resources that the alarms and the dashboard watch. */
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { indexesOf } from '../../src/domain/deployed/environment.ts';
import type { Flow } from '../flow.ts';
import type { Tables } from '../tables.ts';

/** A resource with metrics in CloudWatch. */
export interface Resource {
  metric(name: string, options: MetricOptions): Metric;
}

/** A table without its indexes, or one of its global secondary indexes. */
export interface Store extends Resource {
  /** The name of the table in Groupage, or the name of the index. */
  readonly name: string;
  readonly isIndex: boolean;
}

type ByName = Readonly<Record<string, Resource>>;

export interface Resources {
  /** The queues that functions read. */
  readonly queues: ByName;
  readonly deadLetters: ByName;
  /** The queues of rejected messages and of given-up events, which only a user empties. */
  readonly final: ByName;
  readonly functions: ByName;
  readonly stores: readonly Store[];
}

/** @param nameIn the name, in the stack of the alarms, of a resource. */
export const resourcesOf = (flow: Flow, tables: Tables, nameIn: (name: string) => string): Resources => {
  const of = (namespace: string, dimension: string, name: string, more: Readonly<Record<string, string>> = {}) => {
    const dimensionsMap = { [dimension]: nameIn(name), ...more };
    return {
      metric: (metricName: string, options: MetricOptions) =>
        new Metric({ namespace, metricName, dimensionsMap, ...options }),
    };
  };
  const queue = ({ queueName }: { readonly queueName: string }): Resource => of('AWS/SQS', 'QueueName', queueName);
  const mapped = <T>(record: Readonly<Record<string, T>>, to: (value: T) => Resource): ByName =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, to(value)]));
  const { workingQueues, rejectedQueue, givenUpQueue, functions } = flow;
  return {
    queues: mapped(workingQueues, (each) => queue(each.queue)),
    deadLetters: mapped(workingQueues, ({ deadLetters }) => queue(deadLetters)),
    final: mapped({ rejected: rejectedQueue, ...(givenUpQueue ? { 'given-up': givenUpQueue } : {}) }, (each) =>
      queue(each.queue),
    ),
    functions: mapped(Object.fromEntries(functions), ({ functionName }) =>
      of('AWS/Lambda', 'FunctionName', functionName),
    ),
    stores: tablesAndIndexes(tables).map(({ name, tableName, index }) => ({
      name,
      isIndex: index !== undefined,
      ...of('AWS/DynamoDB', 'TableName', tableName, index === undefined ? {} : { GlobalSecondaryIndexName: index }),
    })),
  };
};

/** CloudWatch keeps the metrics of an index apart from those of its table. */
const tablesAndIndexes = ({ task, batchLock, batch, fanOut, list, fleet, audit }: Tables) =>
  (
    [
      ['task', task],
      ['batchLock', batchLock],
      ['batch', batch],
      ['fanOut', fanOut],
      ['list', list],
      ['fleet', fleet.table],
      ['audit', audit],
    ] as const
  ).flatMap(([name, { tableName }]) => [
    { name, tableName, index: undefined },
    ...indexesOf(`${name}Table`).map((index) => ({ name: index, tableName, index })),
  ]);

/** The names of all resources that the alarms and the dashboard watch, each once. */
export const namesOf = (flow: Flow, tables: Tables): string[] => {
  const names = new Set<string>();
  resourcesOf(flow, tables, (name) => {
    names.add(name);
    return name;
  });
  return [...names];
};
