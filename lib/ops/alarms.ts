/**
 * What is watched: all that a person should see to, and nothing that sees to itself.
 *
 * Another alarm is a row here, with its name in `AlarmId`, and a section of docs/how-to/operate.md.
 */
import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import {
  type AlarmPolicy,
  type Config,
  lateAfter,
  longestWait,
  type Operation,
} from '../../src/domain/config/resolved.ts';
import type { Flow } from '../flow.ts';
import { type MeasuredIn, STEP } from '../instance-metrics.ts';

/** What an alarm is of: all that there can be. Behind a hyphen stands which operation, destination, queue, function or table. */
export type AlarmId =
  | 'Rejected'
  | 'Repairs'
  | 'RegisterAge'
  | 'CallbackAge'
  | 'GivenUp'
  | 'SweepRuns'
  | 'SweepErrors'
  | 'SweepCut'
  | `${'Late' | 'Failed' | 'Circuit' | 'Takeovers'}-${string}`
  | `${'DeadLetters' | 'Vanishing' | 'Callbacks' | 'Throttled' | 'ReadThrottled' | 'WriteThrottled'}-${string}`;

export interface Watch {
  /** Unique among a deployment's alarms; its logical id is made of it. */
  readonly id: AlarmId;
  readonly metric: Metric;
  /** It goes on where the metric is this or more, or, with `below`, less. */
  readonly threshold: number;
  readonly below?: true;
  /** For so many of the metric's periods in a row. @default 1 */
  readonly periods?: number;
  /** What is the matter, in a clause. */
  readonly says: string;
  /** What to do, in a clause. */
  readonly todo: string;
  /** Of docs/how-to/operate.md, as GitHub names its heading in addresses. */
  readonly section: string;
}

/** What is rare, and wrong each time, is counted over so long: as long as its alarm stays on at the least. */
const QUARTER = Duration.minutes(15);
/** Longer than the longest `coolDown`: between two openings its alarm stays on. */
const CIRCUIT_SPAN = Duration.minutes(20);
/** The patrol looks at each Target once an hour at the latest: an alarm of what it sees looks as far back. */
const ROUND = Duration.hours(1);
/** So many in a quarter of an hour are more than a function that died. */
const TAKEOVERS = 3;
/** Seconds. The register λ takes messages at once, and what it cannot take is a dead letter after ten minutes. */
const REGISTER_AGE = 300;
/**
 * SQS deletes a message 14 days after it was sent; the alarm of its queue then returns to OK. A week is also the longest span that an
 * alarm can look at. `ApproximateAgeOfOldestMessage` is of no use here: it leaves out messages that were received more than three times,
 * as the sweep does within minutes, and begins anew when a message becomes a dead letter.
 */
const WEEK_OF_DAYS = 7;
/**
 * Milliseconds, and the same in seconds. An undelivered event is received again a quarter of an hour later at the latest (`MAX_DELAY`).
 * Each receive that does not deliver it writes the metric, so every half hour has a value, however rare events are.
 */
const UNDELIVERED = { age: 900_000, span: Duration.minutes(30) };
const CALLBACK_AGE = UNDELIVERED.age / 1_000;
/** A function that fails or is throttled for three steps does not see to itself. */
const LASTING = 3;

const visibleIn = (queue: IQueue, period = STEP): Metric =>
  queue.metricApproximateNumberOfMessagesVisible({ period, statistic: Stats.MAXIMUM });

const oldestIn = (queue: IQueue): Metric =>
  queue.metricApproximateAgeOfOldestMessage({ period: STEP, statistic: Stats.MAXIMUM });

/** All of them, in the order in which the dashboard shows them. */
export const watchesOf = (
  config: Config,
  policy: AlarmPolicy,
  flow: Flow,
  tables: Readonly<Record<string, Table>>,
  measured: MeasuredIn,
): Watch[] => [
  ...Object.entries(flow.workingQueues).map(
    ([name, { deadLetters }]): Watch => ({
      id: `DeadLetters-${name}`,
      metric: visibleIn(deadLetters),
      threshold: 1,
      says:
        name === 'callback'
          ? 'Events were received 1,000 times and not delivered'
          : `Messages of the ${name} queue failed five times`,
      todo: 'read why in the log of the function, and mend it; the sweep sends them again',
      section: 'dead-letters',
    }),
  ),
  ...watchesOfVanishing(flow),
  {
    id: 'Rejected',
    metric: visibleIn(flow.rejectedQueue.queue),
    threshold: 1,
    says: 'Messages were refused',
    todo: 'read the reasons, and have them sent again or delete them',
    section: 'the-rejected-queue',
  },
  ...Object.values(config.operations).flatMap((operation) => watchesOfOperation(policy, operation, measured)),
  {
    id: 'Repairs',
    metric: measured('Repairs', {}, { period: QUARTER }),
    threshold: 1,
    says: 'The patrol put something right whose message was lost',
    todo: 'find out who purged or redrove a queue, and run groupage doctor --deep',
    section: 'something-was-stranded',
  },
  ...watchesOfCallbacks(config, flow, measured),
  {
    id: 'RegisterAge',
    metric: oldestIn(flow.registerQueue.queue),
    threshold: REGISTER_AGE,
    says: 'Tasks are sent faster than they are registered, or are not registered at all',
    todo: "look at the register function's errors, throttles and concurrency",
    section: 'register-messages-wait',
  },
  ...watchesOfSweep(flow, measured),
  ...watchesOfLimits(flow, tables),
];

const watchesOfCallbacks = (config: Config, { callbackQueue, givenUpQueue }: Flow, measured: MeasuredIn): Watch[] => [
  ...Object.keys(config.destinations).map(
    (destination): Watch => ({
      id: `Callbacks-${destination}`,
      metric: measured('OldestUndelivered', { destination }, { period: UNDELIVERED.span, statistic: Stats.MAXIMUM }),
      threshold: UNDELIVERED.age,
      says: `An event has not come to the destination ${destination} for a quarter of an hour`,
      todo: 'mend it or its rights; events are kept and tried again for three days',
      section: 'callbacks-fail',
    }),
  ),
  ...(givenUpQueue
    ? ([
        {
          id: 'GivenUp',
          metric: visibleIn(givenUpQueue.queue),
          threshold: 1,
          says: 'Events were given up: no destination took them for three days',
          todo: 'mend the destination, and have them sent again (groupage redrive --dead-letters given-up) or delete them',
          section: 'events-were-given-up',
        },
      ] satisfies Watch[])
    : []),
  ...(callbackQueue
    ? ([
        {
          id: 'CallbackAge',
          // It leaves out messages that were received more than three times: those are watched destination by destination.
          metric: oldestIn(callbackQueue.queue),
          threshold: CALLBACK_AGE,
          says: 'An event has waited for a quarter of an hour, and was received three times at the most',
          todo: "look at the callback function's errors, throttles and event source",
          section: 'events-wait',
        },
      ] satisfies Watch[])
    : []),
];

/** Where messages lie that SQS will delete unless somebody sees to them. */
const watchesOfVanishing = ({ workingQueues, rejectedQueue, givenUpQueue }: Flow): Watch[] =>
  [
    ...Object.entries(workingQueues).map(([name, { deadLetters }]) => [name, deadLetters] as const),
    ['rejected', rejectedQueue.queue] as const,
    ...(givenUpQueue ? [['given-up', givenUpQueue.queue] as const] : []),
  ].map(([name, queue]) => ({
    id: `Vanishing-${name}`,
    metric: visibleIn(queue, Duration.days(1)),
    threshold: 1,
    periods: WEEK_OF_DAYS,
    says: `Messages have lain ${isFinal(name) ? `in the ${name} queue` : `among the dead letters of the ${name} queue`} on each day of a week. SQS deletes a message 14 days after it was last sent`,
    todo: isFinal(name)
      ? `send them again (groupage redrive --dead-letters ${name}), or keep a copy and delete them; when SQS deletes them, this queue's other alarm returns to OK`
      : 'while the sweep runs it sends them again, so none is deleted: find out in the log of the function why they fail. If the sweep does not run, start it',
    section: 'messages-are-about-to-vanish',
  }));

/** Queues whose messages only a person has sent again. */
const isFinal = (name: string): boolean => name === 'rejected' || name === 'given-up';

const watchesOfOperation = ({ failedBatches }: AlarmPolicy, operation: Operation, measured: MeasuredIn): Watch[] => {
  const { operation: name, circuit } = operation;
  const of = { operation: name };
  const late = lateAfter(operation);
  return [
    {
      id: `Late-${name}`,
      metric: measured('OldestWaiting', of, { period: ROUND, statistic: Stats.MAXIMUM }),
      threshold: late,
      says: `A task of ${name} has waited for ${late / 1_000} s or more, where ${longestWait(operation) / 1_000} s is the most that it should`,
      todo: 'groupage targets and groupage operations say which, and what it waits for',
      section: 'tasks-wait-too-long',
    },
    {
      id: `Failed-${name}`,
      metric: measured('BatchesFailed', of, { period: QUARTER }),
      threshold: failedBatches,
      says: `Tasks of ${name} have failed for good`,
      todo: 'groupage failures says why; mend that, and redrive them',
      section: 'batches-fail',
    },
    ...(circuit
      ? ([
          {
            id: `Circuit-${name}`,
            metric: measured('CircuitOpened', of, { period: CIRCUIT_SPAN }),
            threshold: 1,
            says: `The downstream of ${name} takes no calls, and its batches wait`,
            todo: 'mend the downstream, or the configuration that calls it; nothing is lost meanwhile',
            section: 'a-circuit-is-open',
          },
        ] satisfies Watch[])
      : []),
    {
      id: `Takeovers-${name}`,
      metric: measured('LockTakeovers', of, { period: QUARTER }),
      threshold: TAKEOVERS,
      says: `Leaders of ${name} died or were too slow, and others took over`,
      todo: 'look for timeouts and memory in the logs of the elect-leader and group functions',
      section: 'leaders-are-taken-over',
    },
  ];
};

/** Without it nothing that is lost is found, and dead letters stay where they are. */
const watchesOfSweep = ({ functions }: Flow, measured: MeasuredIn): Watch[] => {
  const sweep = functions.get('sweep');
  if (!sweep) throw new Error('the flow has no sweep');
  return [
    {
      id: 'SweepRuns',
      metric: sweep.metricInvocations({ period: STEP }),
      threshold: 1,
      below: true,
      periods: LASTING,
      says: 'The sweep has not run for a quarter of an hour',
      todo: 'enable its rule (SweepSchedule), and see that the function is there',
      section: 'the-sweep-does-not-run',
    },
    {
      id: 'SweepErrors',
      metric: sweep.metricErrors({ period: STEP }),
      threshold: 1,
      periods: LASTING,
      says: 'The sweep fails, and with it what it repairs',
      todo: 'its log names each thing that failed',
      section: 'the-sweep-fails',
    },
    {
      id: 'SweepCut',
      metric: measured('SweepsCut', {}),
      threshold: 1,
      periods: LASTING,
      says: 'The sweep runs out of time, so some repairs are late; nothing is lost',
      todo: 'its log says which part was cut; look for a throttled table, or give the function more memory',
      section: 'the-sweep-runs-out-of-time',
    },
  ];
};

/** Where AWS says no: a function that may not run, a table that takes no more. */
const watchesOfLimits = (flow: Flow, tables: Readonly<Record<string, Table>>): Watch[] => [
  ...[...flow.functions].map(
    ([name, fn]): Watch => ({
      id: `Throttled-${name}`,
      metric: fn.metricThrottles({ period: STEP }),
      threshold: 1,
      periods: LASTING,
      says: `The ${name} function is throttled, and its messages wait`,
      todo: "raise the account's quota of concurrent executions, or find who uses it up",
      section: 'a-function-is-throttled',
    }),
  ),
  ...Object.entries(tables).flatMap(([name, table]) =>
    (['Read', 'Write'] as const).map(
      (kind): Watch => ({
        id: `${kind}Throttled-${name}`,
        metric: table.metric(`${kind}ThrottleEvents`, { period: STEP, statistic: Stats.SUM }),
        threshold: 1,
        periods: LASTING,
        says: `${kind}s of the table ${name} are throttled`,
        todo: 'find the hot Target or operation, and split it (shards) or slow its producers',
        section: 'a-table-is-throttled',
      }),
    ),
  ),
];
