/**
 * The alarms. There is an alarm for every problem that a person must solve, and none for problems that Groupage
 * repairs.
 *
 * To add an alarm, add a row here, its name in `AlarmId` (watch.ts), and a section in docs/how-to/operate.md.
 */
import { Duration } from 'aws-cdk-lib';
import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type AlarmPolicy,
  type Config,
  lateAfter,
  longestWait,
  type Operation,
} from '../../src/domain/config/resolved.ts';
import type { LimitName, Millis } from '../../src/domain/ids.ts';
import { usersOf } from '../../src/domain/limits/limits.ts';
import { MAX_DELAY, MAX_RECEIVES, MINUTE } from '../../src/domain/timings.ts';
import type { Flow } from '../flow.ts';
import { type MeasuredIn, STEP } from '../instance-metrics.ts';
import type { Resource, Resources } from './resources.ts';
import { watchesOfThrottling } from './throttles.ts';
import { LASTING, type Watch } from './watch.ts';

/** Period for rare events that always show a problem. Their alarm stays on for at least this long. */
const QUARTER = Duration.minutes(15);
/**
 * Period for the opening of a circuit. It is longer than the longest `coolDown`, so that the alarm stays on between two
 * openings.
 */
const CIRCUIT_SPAN = Duration.minutes(20);
/** Period for findings of the patrol, which needs an hour to read all Targets. */
const ROUND = Duration.hours(1);
/** Number of takeovers in a quarter of an hour that cannot come from a single crashed function. */
const TAKEOVERS = 3;
/**
 * Age of the oldest message in the register queue, in seconds. Normally the register function receives a message at
 * once, and a message that it cannot handle becomes a dead letter after ten minutes.
 */
const REGISTER_AGE = 300;
/**
 * Number of days that a queue must have had messages. SQS deletes a message 14 days after it was sent, and then the
 * queue's alarm returns to OK. A week is also the longest span of an alarm. The metric `ApproximateAgeOfOldestMessage`
 * cannot be used. It leaves out messages that were received more than three times, which the sweep does within minutes,
 * and it starts again when a message becomes a dead letter.
 */
const WEEK_OF_DAYS = 7;
/**
 * Age of an undelivered event at which the alarm turns on, in milliseconds (`CALLBACK_AGE` is the same in seconds), and
 * the alarm's period. An undelivered event is received again within a quarter of an hour (`MAX_DELAY`), and each failed
 * delivery writes the metric. So there is a value for every half hour, even if events are rare.
 */
const UNDELIVERED = { age: 900_000, span: Duration.minutes(30) };
const CALLBACK_AGE = UNDELIVERED.age / 1_000;

/**
 * Period in which a message that always fails is sent again at least once: the sweep's longest delay, all receives, and
 * two minutes until the next sweep has found it. So the alarm stays on until the cause is fixed.
 */
const roundTrip = (visibility: Duration): Duration =>
  Duration.minutes(Math.ceil((MAX_DELAY + MAX_RECEIVES * visibility.toMilliseconds()) / MINUTE) + 2);

const visibleIn = (queue: Resource, period = STEP): Metric =>
  queue.metric('ApproximateNumberOfMessagesVisible', { period, statistic: Stats.MAXIMUM });

const oldestIn = (queue: Resource): Metric =>
  queue.metric('ApproximateAgeOfOldestMessage', { period: STEP, statistic: Stats.MAXIMUM });

/** @throws Error if there is no such resource. */
const named = (resources: Readonly<Record<string, Resource>>, name: string): Resource => {
  const resource = resources[name];
  if (!resource) throw new Error(`the flow has no ${name}`);
  return resource;
};

/** All alarms, in the order in which the dashboard shows them. */
export const watchesOf = (
  config: Config,
  policy: AlarmPolicy,
  flow: Flow,
  resources: Resources,
  measured: MeasuredIn,
): Watch[] => [
  ...Object.entries(flow.workingQueues).map(
    ([queue, { visibility }]): Watch => ({
      id: `DeadLetters-${queue}`,
      // The sweep empties the dead-letter queue each minute, so CloudWatch may never count the messages in it. If the
      // sweep cannot do this, its own alarms show that.
      metric: measured('DeadLettersRevived', { queue }, { period: roundTrip(visibility) }),
      threshold: 1,
      says:
        queue === 'callback'
          ? 'Events were received 1,000 times and not delivered. The sweep sent them again'
          : `Messages of the ${queue} queue failed five times. The sweep sent them again`,
      todo: 'their work is late, and nothing is lost. Find the cause in the log of the function and fix it; until then the messages fail again',
      section: 'dead-letters',
    }),
  ),
  ...watchesOfVanishing(resources),
  {
    id: 'Rejected',
    metric: visibleIn(named(resources.final, 'rejected')),
    threshold: 1,
    says: 'Messages were rejected and are in the rejected queue',
    todo: 'they have had no effect. Read the reasons, then send them again (groupage redrive --dead-letters rejected) or delete them',
    section: 'the-rejected-queue',
  },
  ...Object.values(config.operations).flatMap((operation) => watchesOfOperation(policy, operation, measured)),
  ...watchesOfLimits(config, measured),
  {
    id: 'Repairs',
    metric: measured('Repairs', {}, { period: QUARTER }),
    threshold: 1,
    says: 'A Target or batch was stuck because a message was lost, and was repaired',
    todo: 'its tasks were late, and are handled now. Find out who purged or redrove a queue, and run groupage doctor --deep to find lost batch messages',
    section: 'something-was-stranded',
  },
  ...watchesOfCallbacks(config, resources, measured),
  {
    id: 'RegisterAge',
    metric: oldestIn(named(resources.queues, 'register')),
    threshold: REGISTER_AGE,
    says: 'The oldest register message has waited for five minutes',
    todo: 'tasks are sent faster than they are registered, or are not registered at all. Check the errors, throttles and concurrency of the register function; do not purge its queue',
    section: 'register-messages-wait',
  },
  ...watchesOfSweep(named(resources.functions, 'sweep'), measured),
  ...watchesOfTrackers(measured),
  ...watchesOfThrottling(resources),
];

/** Alarms on fan-outs and lists that need a person. */
const watchesOfTrackers = (measured: MeasuredIn): Watch[] => [
  {
    id: 'FanOutsExpired',
    metric: measured('FanOutsExpired', {}, { period: QUARTER }),
    threshold: 1,
    says: 'A fan-out expired, because no item was added or acked for too long',
    todo: 'its tasks continue, but later acks have no effect. The sweep log (fan-out-ended) names it, and its event has the counts. Find out why items were not acked, or whether the producer died before the seal, then open a new fan-out',
    section: 'a-fan-out-expired',
  },
  {
    id: 'FanOutsFailed',
    metric: measured('FanOutsFailed', {}, { period: QUARTER }),
    threshold: 1,
    says: 'A fan-out ended early, because more of its items failed than failFast allows',
    todo: 'its tasks that have not ended continue. Find it with groupage fan-out list, and the causes with groupage failures. Fix them, then open a new fan-out',
    section: 'a-fan-out-failed',
  },
  {
    id: 'JobsUndeliverable',
    metric: measured('JobsUndeliverable', {}, { period: QUARTER }),
    threshold: 1,
    says: 'Jobs of a list failed, because workers got them maxDeliveries times without ending them',
    todo: 'they are not handed out again, and the other jobs continue. The API log (jobs-undeliverable) names the list, and groupage lists show ID --jobs --status failed shows the errors. Fix the cause, then add the jobs to a new list',
    section: 'jobs-are-undeliverable',
  },
  {
    id: 'ClaimsRefused',
    metric: measured('ClaimsRefused', {}, { period: QUARTER }),
    threshold: 1,
    says: 'A list has as many claims as it can have, and refuses more',
    todo: 'its workers wait. Let them claim more jobs at once, and end the claims of dead workers (groupage lists claims, groupage lists break)',
    section: 'claims-are-refused',
  },
];

const watchesOfCallbacks = (config: Config, { queues, final }: Resources, measured: MeasuredIn): Watch[] => [
  ...Object.keys(config.destinations).map(
    (destination): Watch => ({
      id: `Callbacks-${destination}`,
      metric: measured('OldestUndelivered', { destination }, { period: UNDELIVERED.span, statistic: Stats.MAXIMUM }),
      threshold: UNDELIVERED.age,
      says: `An event has not reached the destination ${destination} for a quarter of an hour`,
      todo: 'tasks keep their results, and events are retried for three days. Fix the destination, or the rights to send to it',
      section: 'callbacks-fail',
    }),
  ),
  ...(final['given-up']
    ? ([
        {
          id: 'GivenUp',
          metric: visibleIn(final['given-up']),
          threshold: 1,
          says: 'Events were given up, because no destination accepted them for three days',
          todo: 'they are not retried any more. Fix the destination, then send them again (groupage redrive --dead-letters given-up) or delete them',
          section: 'events-were-given-up',
        },
      ] satisfies Watch[])
    : []),
  ...(queues.callback
    ? ([
        {
          id: 'CallbackAge',
          // This metric leaves out messages that were received more than three times. The alarms of the destinations
          // cover those messages.
          metric: oldestIn(queues.callback),
          threshold: CALLBACK_AGE,
          says: 'An event has waited for a quarter of an hour and was received at most three times',
          todo: 'the callback function hardly runs; events wait, and nothing is lost. Check the errors, throttles and event source of the function',
          section: 'events-wait',
        },
      ] satisfies Watch[])
    : []),
];

/** Alarms on queues whose messages SQS will delete unless a person acts. */
const watchesOfVanishing = ({ deadLetters, final }: Resources): Watch[] =>
  Object.entries({ ...deadLetters, ...final }).map(([name, queue]) => ({
    id: `Vanishing-${name}`,
    metric: visibleIn(queue, Duration.days(1)),
    threshold: 1,
    periods: WEEK_OF_DAYS,
    says: `Messages have been ${isFinal(name) ? `in the ${name} queue` : `in the dead-letter queue of the ${name} queue`} on each day of a week. SQS deletes a message 14 days after it was last sent`,
    todo: isFinal(name)
      ? `send them again (groupage redrive --dead-letters ${name}), or keep a copy and delete them. When SQS deletes them, the other alarm of this queue returns to OK`
      : 'none is deleted while the sweep runs, since it sends them again. Find out in the log of the function why they fail. If the sweep does not run, start it',
    section: 'messages-are-about-to-vanish',
  }));

/** Whether only a user sends the messages of this queue again. */
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
      says: `A task of ${name} has waited for ${late / 1_000} s or more, but should wait for at most ${longestWait(operation) / 1_000} s`,
      todo: 'the task is late, not lost. Run groupage targets and groupage operations to see which tasks wait, and for what; do not send them again',
      section: 'tasks-wait-too-long',
    },
    {
      id: `Failed-${name}`,
      metric: measured('BatchesFailed', of, { period: QUARTER }),
      threshold: failedBatches,
      says: `Tasks of ${name} have ended as failed`,
      todo: 'Groupage does not retry them. Run groupage failures to see the causes, fix them, then redrive the tasks',
      section: 'batches-fail',
    },
    ...(circuit
      ? ([
          {
            id: `Circuit-${name}`,
            metric: measured('CircuitOpened', of, { period: CIRCUIT_SPAN }),
            threshold: 1,
            says: `The circuit of ${name} opened, because its downstream accepts no calls`,
            todo: 'its batches wait, their attempts do not count, and nothing is lost. Fix the downstream, or the configuration of its calls; a batch tests it after each coolDown',
            section: 'a-circuit-is-open',
          },
        ] satisfies Watch[])
      : []),
    {
      id: `Takeovers-${name}`,
      metric: measured('LockTakeovers', of, { period: QUARTER }),
      threshold: TAKEOVERS,
      says: `Leaders of ${name} died or were too slow, and others took over`,
      todo: 'its tasks may be up to two minutes late, and nothing is lost. Look for timeouts and memory errors in the logs of the elect-leader and group functions',
      section: 'leaders-are-taken-over',
    },
  ];
};

/**
 * Alarms on the configured limits. The `rateLimit` of an operation has none, because the alarm on late tasks of the
 * operation shows the same.
 */
const watchesOfLimits = (config: Config, measured: MeasuredIn): Watch[] =>
  (Object.keys(config.limits) as LimitName[]).flatMap((limit) => {
    const late = lateUnder(config, limit);
    return late === undefined
      ? []
      : [
          {
            id: `Limit-${limit}`,
            metric: measured('LimitWait', { limit }, { period: ROUND, statistic: Stats.MAXIMUM }),
            threshold: late,
            says: `The limit ${limit} delayed a call whose oldest task was already ${late / 1_000} s old`,
            todo: `its tasks are late, not lost. Run groupage limits ${limit} to see what is used and which Targets wait. Raise the limit if the API allows more, send fewer tasks, or, if it limits the number of calls, make batches fuller (maxWait, maxSize). The age includes pauses, retries and waits for slots: see groupage operations too`,
            section: 'calls-wait-for-a-limit',
          } satisfies Watch,
        ];
  });

/** The age at which a task of every operation under a limit is late. Undefined if no operation uses the limit. */
const lateUnder = (config: Config, limit: LimitName): Millis | undefined => {
  const late = usersOf(config, limit).map((name) => lateAfter(config.operations[name] as Operation));
  return late.length === 0 ? undefined : Math.max(...late);
};

/** Alarms on the sweep, without which lost messages are not found and dead letters are not sent again. */
const watchesOfSweep = (sweep: Resource, measured: MeasuredIn): Watch[] => [
  {
    id: 'SweepRuns',
    metric: sweep.metric('Invocations', { period: STEP, statistic: Stats.SUM }),
    threshold: 1,
    below: true,
    periods: LASTING,
    says: 'The sweep has not run for a quarter of an hour',
    todo: 'dead letters are not sent again, and nothing that is stuck is repaired. Enable its rule (SweepSchedule), and check that the function exists',
    section: 'the-sweep-does-not-run',
  },
  {
    id: 'SweepErrors',
    metric: sweep.metric('Errors', { period: STEP, statistic: Stats.SUM }),
    threshold: 1,
    periods: LASTING,
    says: 'The sweep fails in a part of its work',
    todo: 'that part repairs nothing, but the other parts still run. Its log names each Target, fan-out or queue that failed, and why; fix the cause',
    section: 'the-sweep-fails',
  },
  {
    id: 'SweepCut',
    metric: measured('SweepsCut', {}),
    threshold: 1,
    periods: LASTING,
    says: 'The sweep runs out of time',
    todo: 'some repairs are late, and nothing is lost. Its log names the part that was cut; look for a throttled table, or give the function more memory',
    section: 'the-sweep-runs-out-of-time',
  },
];
