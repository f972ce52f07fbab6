/** The figures that CloudWatch has about a load: which metrics they need, and how their values are combined. Pure. */
import { NAMESPACE, STACK_DIMENSION } from '../../../src/domain/events/metrics.ts';
import type { Resources } from './resources.ts';

/** A metric with a statistic, per minute. */
export interface Query {
  /** Queries of the same key are combined into one figure. */
  readonly key: FigureName;
  /** The function of a figure by function. */
  readonly fn?: string;
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: string;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const max = (values: readonly number[]): number => Math.max(...values);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * How the values of all minutes and resources become one figure. CloudWatch has quantiles only for each minute: a median
 * is the median of the minutes' medians, and a 99th percentile that of the worst minute.
 */
const COMBINED = {
  writeUnits: sum,
  readUnits: sum,
  throttledRequests: sum,
  /** Sum and number of the latencies of DynamoDB's requests, for their mean. */
  latencySum: sum,
  requests: sum,
  latencyMax: max,
  sent: sum,
  received: sum,
  deleted: sum,
  emptyReceives: sum,
  invocations: sum,
  errors: sum,
  throttles: sum,
  lambdaMillis: sum,
  durationP50: median,
  durationP99: max,
  atOnce: max,
  logBytes: sum,
  succeeded: sum,
  callP50: median,
  callP99: max,
  oldestWaiting: max,
  takeovers: sum,
  repairs: sum,
  deadLetters: sum,
} as const satisfies Readonly<Record<string, (values: readonly number[]) => number>>;

type FigureName = keyof typeof COMBINED;

/** Figures of the load, and those of each function. A figure without values was not reported. */
export interface Figures {
  readonly all: Partial<Readonly<Record<FigureName, number>>>;
  readonly byFunction: Readonly<Record<string, Partial<Readonly<Record<FigureName, number>>>>>;
}

/** The operations of DynamoDB whose latency is read: those that the functions use. */
const REQUESTS = [
  ...['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'],
  ...['ExecuteStatement', 'BatchExecuteStatement'],
];

/** @param operation of the load */
export const queriesOf = ({ tables, queues, functions, service }: Resources, operation: string): Query[] => [
  ...tables.flatMap(({ name: TableName, indexes }) => [
    ...[{ TableName }, ...indexes.map((GlobalSecondaryIndexName) => ({ TableName, GlobalSecondaryIndexName }))].flatMap(
      (dimensions) => ofDynamoDB(dimensions),
    ),
    ...REQUESTS.flatMap((Operation) => latencies({ TableName, Operation })),
  ]),
  ...queues.flatMap((QueueName) =>
    (
      [
        ['sent', 'NumberOfMessagesSent'],
        ['received', 'NumberOfMessagesReceived'],
        ['deleted', 'NumberOfMessagesDeleted'],
        ['emptyReceives', 'NumberOfEmptyReceives'],
      ] as const
    ).map(([key, metric]) => query(key, 'AWS/SQS', metric, { QueueName })),
  ),
  ...Object.entries(functions).flatMap(([fn, { name, logGroup }]) => [
    ...ofFunction(fn, { FunctionName: name }),
    query('logBytes', 'AWS/Logs', 'IncomingBytes', { LogGroupName: logGroup }),
  ]),
  ...ours({ [STACK_DIMENSION]: service, operation }, { [STACK_DIMENSION]: service }),
];

const query = (
  key: FigureName,
  namespace: string,
  metric: string,
  dimensions: Query['dimensions'],
  statistic = 'Sum',
): Query => ({ key, namespace, metric, dimensions, statistic });

const ofDynamoDB = (dimensions: Query['dimensions']): Query[] => [
  query('writeUnits', 'AWS/DynamoDB', 'ConsumedWriteCapacityUnits', dimensions),
  query('readUnits', 'AWS/DynamoDB', 'ConsumedReadCapacityUnits', dimensions),
  query('throttledRequests', 'AWS/DynamoDB', 'ReadThrottleEvents', dimensions),
  query('throttledRequests', 'AWS/DynamoDB', 'WriteThrottleEvents', dimensions),
];

const latencies = (dimensions: Query['dimensions']): Query[] =>
  (
    [
      ['latencySum', 'Sum'],
      ['requests', 'SampleCount'],
      ['latencyMax', 'Maximum'],
    ] as const
  ).map(([key, statistic]) => query(key, 'AWS/DynamoDB', 'SuccessfulRequestLatency', dimensions, statistic));

const ofFunction = (fn: string, dimensions: Query['dimensions']): Query[] =>
  (
    [
      ['invocations', 'Invocations', 'Sum'],
      ['errors', 'Errors', 'Sum'],
      ['throttles', 'Throttles', 'Sum'],
      ['lambdaMillis', 'Duration', 'Sum'],
      ['durationP50', 'Duration', 'p50'],
      ['durationP99', 'Duration', 'p99'],
      ['atOnce', 'ConcurrentExecutions', 'Maximum'],
    ] as const
  ).map(([key, metric, statistic]) => ({ ...query(key, 'AWS/Lambda', metric, dimensions, statistic), fn }));

/** The metrics that the functions write. */
const ours = (ofOperation: Query['dimensions'], ofService: Query['dimensions']): Query[] => [
  query('succeeded', NAMESPACE, 'TasksSucceeded', ofOperation),
  query('callP50', NAMESPACE, 'DownstreamLatency', ofOperation, 'p50'),
  query('callP99', NAMESPACE, 'DownstreamLatency', ofOperation, 'p99'),
  query('oldestWaiting', NAMESPACE, 'OldestWaiting', ofOperation, 'Maximum'),
  query('takeovers', NAMESPACE, 'LockTakeovers', ofOperation),
  query('repairs', NAMESPACE, 'Repairs', ofService),
  ...['register', 'elect', 'group', 'batch'].map((queue) =>
    query('deadLetters', NAMESPACE, 'DeadLettersRevived', { ...ofService, queue }),
  ),
];

/**
 * Metrics of rare events. CloudWatch has no values for an event that never happened, so without values they are 0, if
 * the functions' other metrics were reported.
 */
const RARE: readonly FigureName[] = ['takeovers', 'repairs', 'deadLetters'];
/** AWS writes these metrics only when something was throttled. */
const RARE_OF_TABLES: readonly FigureName[] = ['throttledRequests'];

/** @param values of each query, one for each minute that has a value */
export const figuresOf = (queries: readonly Query[], values: readonly (readonly number[])[]): Figures => {
  const answered = queries.map((each, index) => ({ ...each, values: values[index] ?? [] }));
  const functions = new Set(answered.flatMap(({ fn }) => fn ?? []));
  const all = combined(answered);
  return {
    all: {
      ...(all.succeeded === undefined ? {} : zeros(RARE)),
      ...(all.writeUnits === undefined ? {} : zeros(RARE_OF_TABLES)),
      ...all,
    },
    byFunction: Object.fromEntries(
      [...functions].map((fn) => [fn, combined(answered.filter((each) => each.fn === fn))]),
    ),
  };
};

const zeros = (names: readonly FigureName[]): Figures['all'] => Object.fromEntries(names.map((name) => [name, 0]));

const combined = (answered: readonly (Query & { readonly values: readonly number[] })[]): Figures['all'] => {
  const byKey = Map.groupBy(answered, ({ key }) => key);
  return Object.fromEntries(
    [...byKey].flatMap(([key, those]) => {
      const values = those.flatMap((each) => each.values);
      return values.length === 0 ? [] : [[key, COMBINED[key](values)]];
    }),
  );
};
