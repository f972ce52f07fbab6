/** The graphs of the dashboard, by question. */
import { GraphWidget, type GraphWidgetProps, type IMetric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type Config, lateAfter, longestWait, type Operation } from '../../src/domain/config/resolved.ts';
import { NO_OPERATION, REPAIRED } from '../../src/domain/events/metrics.ts';
import { allLimits, usersOf } from '../../src/domain/limits/limits.ts';
import type { Flow } from '../flow.ts';
import { callsSavedBy, type MeasuredIn, type OfOperation, queuesOf, reasonsOf, STEP } from '../instance-metrics.ts';
import type { Resource, Resources, Store } from './resources.ts';

/** The most limits that the graphs show. */
export const LIMITS_SHOWN = 50;

/** What the graphs show. */
export interface Watched {
  readonly config: Config;
  /** The operations that the dashboard shows, up to its limit. */
  readonly operations: readonly Operation[];
  readonly flow: Flow;
  readonly resources: Resources;
  readonly measured: MeasuredIn;
}

const isAnythingLost = (watched: Watched): GraphWidget[] => {
  const { config, flow, measured } = watched;
  const { queues, deadLetters, final } = watched.resources;
  const destinations = Object.keys(config.destinations);
  return [
    graph(
      'Dead letters, rejected messages and given-up events',
      ofQueues({ ...deadLetters, ...final }, 'ApproximateNumberOfMessagesVisible'),
    ),
    graph('Messages that were sent again, and unreadable dead letters', [
      ...queuesOf(flow).map((queue) => measured('DeadLettersRevived', { queue }, { label: `${queue} again` })),
      ...Object.keys(queues).map((queue) =>
        measured('DeadLettersUnreadable', { queue }, { label: `${queue} unreadable` }),
      ),
    ]),
    graph('Rejected messages, and broken rules for producers', [
      ...byOperation(watched, ['TasksRejected']),
      measured('TasksRejected', { operation: NO_OPERATION }, { label: 'without a configured operation' }),
      measured('RulesBroken', {}),
    ]),
    graph('Failed tasks, and expired ones among them', byOperation(watched, ['TasksFailed', 'TasksExpired'])),
    graph('Failed batches', byOperation(watched, ['BatchesFailed'])),
    graph('Circuits that opened or closed', byOperation(watched, ['CircuitOpened', 'CircuitClosed'])),
    graph('Repairs, and sweeps that ran out of time', [
      measured('Repairs', {}),
      measured('FanOutsRepaired', {}),
      measured('SweepsCut', {}),
      ...byOperation(watched, REPAIRED),
    ]),
    graph('Takeovers by another leader', byOperation(watched, ['LockTakeovers'])),
    graph('Undelivered events, failed fan-outs and undeliverable jobs', [
      ...destinations.map((destination) =>
        measured('CallbacksFailed', { destination }, { label: `${destination} failed` }),
      ),
      ...destinations.map((destination) =>
        measured('DestinationsDown', { destination }, { label: `${destination} down` }),
      ),
      measured('EventsUntold', {}),
      measured('FanOutsExpired', {}),
      measured('FanOutsFailed', {}),
      measured('JobsUndeliverable', {}),
      measured('ClaimsRefused', {}),
      measured('ClaimsBroken', {}),
      measured('ItemsUnknown', {}),
    ]),
  ];
};

const isItLate = (watched: Watched): GraphWidget[] => {
  const { operations, config, measured } = watched;
  const destinations = Object.keys(config.destinations);
  const limits = allLimits(config).slice(0, LIMITS_SHOWN);
  return [
    graph('Age of the oldest waiting task (ms)', byOperation(watched, ['OldestWaiting'], Stats.MAXIMUM), {
      leftAnnotations: operations.map((operation) => ({
        value: lateAfter(operation),
        label: `${operation.operation} is late`,
      })),
    }),
    graph('Wait of a batch until its seal, p99 (ms)', byOperation(watched, ['Wait'], 'p99'), {
      leftAnnotations: operations.map((operation) => ({
        value: longestWait(operation),
        label: `${operation.batch.window === null ? 'maxWait' : 'window'} of ${operation.operation}`,
      })),
    }),
    ...(limits.length > 0
      ? [
          graph(
            'Age of the oldest task of a call that a limit delayed (ms)',
            limits.map(([limit]) => measured('LimitWait', { limit }, { label: limit, statistic: Stats.MAXIMUM })),
          ),
        ]
      : []),
    graph('Age of the oldest message (s)', ofQueues(watched.resources.queues, 'ApproximateAgeOfOldestMessage')),
    ...(destinations.length > 0
      ? [
          graph(
            'Age of the oldest undelivered event (ms)',
            destinations.map((destination) =>
              measured('OldestUndelivered', { destination }, { label: destination, statistic: Stats.MAXIMUM }),
            ),
          ),
        ]
      : []),
    graph('Tasks registered and redriven', byOperation(watched, ['TasksRegistered', 'TasksRedriven'])),
    graph('Tasks succeeded and failed', byOperation(watched, ['TasksSucceeded', 'TasksFailed'])),
  ];
};

const isItFull = (watched: Watched): GraphWidget[] => [
  graph('Mean batch size (% of maxSize)', byOperation(watched, ['FillRatio'])),
  ...watched.operations.map(({ operation, batch }) =>
    graph(
      `Batches of ${operation} by seal reason`,
      reasonsOf(batch).map((reason) => watched.measured('BatchesSealed', { operation, reason }, { label: reason })),
      { stacked: true },
    ),
  ),
];

const callsSaved = ({ operations, measured }: Watched): IMetric[] =>
  operations.map(({ operation }, n) => callsSavedBy(measured, operation, {}, n));

const whatDoesItCost = (watched: Watched): GraphWidget[] => {
  const { config, operations, measured } = watched;
  const { queues, final, functions, stores } = watched.resources;
  const merging = operations.filter(({ merge }) => merge);
  return [
    graph('Calls to the downstream', byOperation(watched, ['DownstreamCalls'])),
    graph('Calls saved, compared with one for each task', callsSaved(watched)),
    graph('Leaders elected', byOperation(watched, ['LeadersElected'])),
    graph('Write units', ofStores(stores, ['ConsumedWriteCapacityUnits'])),
    graph('Read units', ofStores(stores, ['ConsumedReadCapacityUnits'])),
    graph('Invocations', ofFunctions(functions, 'Invocations', Stats.SUM)),
    graph(
      'Messages sent',
      Object.entries({ ...queues, ...final }).map(([label, queue]) =>
        queue.metric('NumberOfMessagesSent', { label, period: STEP, statistic: Stats.SUM }),
      ),
    ),
    graph('Delivered events, and completed fan-outs', [
      ...Object.keys(config.destinations).map((destination) =>
        measured('CallbacksDelivered', { destination }, { label: destination }),
      ),
      measured('FanOutsCompleted', {}),
      measured('FanOutsOpen', {}, { statistic: Stats.MAXIMUM }),
    ]),
    graph(
      'Jobs of lists',
      (['ListsOpen', 'JobsAvailable', 'JobsLeased', 'MostDeliveries'] as const).map((name) =>
        measured(name, {}, { statistic: Stats.MAXIMUM }),
      ),
    ),
    graph(
      'Age of the oldest open fan-out and list (ms)',
      (['OldestFanOut', 'OldestList'] as const).map((name) => measured(name, {}, { statistic: Stats.MAXIMUM })),
    ),
    ...(merging.length > 0
      ? [
          graph(
            'Merging',
            byOperation({ ...watched, operations: merging }, [
              'RequestsMerged',
              'JobsStarted',
              'InputsMerged',
              'InputsSkipped',
            ]),
          ),
        ]
      : []),
  ];
};

/**
 * What the operations of each limit use, and what the limit allows. A limit with a key allows as much for each of its
 * buckets, so these sums show nothing about it.
 */
const underLimits = ({ config, operations, measured }: Watched): GraphWidget[] =>
  allLimits(config)
    .slice(0, LIMITS_SHOWN)
    .filter(([, { key }]) => key === null)
    .flatMap(([name, { calls, weight, per }]) => {
      const users = usersOf(config, name).filter((user) => operations.some(({ operation }) => operation === user));
      const used = (what: string, metric: 'DownstreamCalls' | 'WeightUsed', allowed: number | null) =>
        allowed === null || users.length === 0
          ? []
          : [
              graph(
                `${what} under the limit ${name}, by operation`,
                users.map((operation) => measured(metric, { operation }, { label: operation })),
                {
                  stacked: true,
                  leftAnnotations: [{ value: (allowed * STEP.toMilliseconds()) / per, label: 'allowed' }],
                },
              ),
            ];
      return [...used('Calls', 'DownstreamCalls', calls), ...used('Weight of calls', 'WeightUsed', weight)];
    });

const whereIsTheBottleneck = (watched: Watched): GraphWidget[] => {
  const { queues, functions, stores } = watched.resources;
  return [
    graph('Duration of a call to the downstream, p95 (ms)', byOperation(watched, ['DownstreamLatency'], 'p95')),
    ...underLimits(watched),
    graph('Failed calls', byOperation(watched, ['DownstreamErrors'])),
    graph('Retried batches', byOperation(watched, ['BatchesRetried'])),
    graph('Messages that wait in their queue', ofQueues(queues, 'ApproximateNumberOfMessagesVisible')),
    graph('Messages in flight', ofQueues(queues, 'ApproximateNumberOfMessagesNotVisible')),
    graph('Delayed messages', ofQueues(queues, 'ApproximateNumberOfMessagesDelayed')),
    graph('Concurrent executions', ofFunctions(functions, 'ConcurrentExecutions', Stats.MAXIMUM)),
    graph('Duration of functions, p95 (ms)', ofFunctions(functions, 'Duration', 'p95')),
    graph('Failed invocations', ofFunctions(functions, 'Errors', Stats.SUM)),
    graph('Throttled invocations', ofFunctions(functions, 'Throttles', Stats.SUM)),
    graph('Throttled requests to tables and indexes', ofStores(stores, ['ReadThrottleEvents', 'WriteThrottleEvents'])),
  ];
};

/** Size of a graph in the dashboard's units. A row is 24 units wide, so it has three graphs with their legends. */
const [WIDTH, HEIGHT] = [8, 5];

const graph = (
  title: string,
  metrics: readonly IMetric[],
  more: Pick<GraphWidgetProps, 'stacked' | 'leftAnnotations'> = {},
): GraphWidget =>
  new GraphWidget({ title, left: [...metrics], leftYAxis: { min: 0 }, width: WIDTH, height: HEIGHT, ...more });

/** The metrics of all operations: one line for each operation and metric. */
const byOperation = ({ operations, measured }: Watched, names: readonly OfOperation[], statistic?: string): IMetric[] =>
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

/**
 * The maximum of each period for each queue: one line for each queue, labelled with its name. Likewise for functions,
 * tables and indexes below.
 */
const ofQueues = (queues: Readonly<Record<string, Resource>>, metric: string): IMetric[] =>
  Object.entries(queues).map(([label, queue]) =>
    queue.metric(metric, { label, period: STEP, statistic: Stats.MAXIMUM }),
  );

const ofFunctions = (functions: Readonly<Record<string, Resource>>, metric: string, statistic: string): IMetric[] =>
  Object.entries(functions).map(([label, fn]) => fn.metric(metric, { label, period: STEP, statistic }));

const ofStores = (stores: readonly Store[], metrics: readonly string[]): IMetric[] =>
  stores.flatMap((store) =>
    metrics.map((metric) => {
      const name = store.isIndex ? `index ${store.name}` : store.name;
      const label = metrics.length === 1 ? name : `${name} ${metric}`;
      return store.metric(metric, { label, period: STEP, statistic: Stats.SUM });
    }),
  );

/** The questions, in the order in which a person on call asks them, with the graphs that answer each. */
export const QUESTIONS: readonly (readonly [title: string, graphs: (watched: Watched) => readonly GraphWidget[]])[] = [
  ['Is anything lost or failing?', isAnythingLost],
  ['Is anything late?', isItLate],
  ['Are batches full?', isItFull],
  ['What does it cost?', whatDoesItCost],
  ['Where is the bottleneck?', whereIsTheBottleneck],
];
