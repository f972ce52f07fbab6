/**
 * Settings that contradict each other: a deployment makes them right, and a person who changes one of them by hand, in a
 * console at night, seldom thinks of the others. Pure.
 */
import type { Millis } from '../../src/domain/ids.ts';
import {
  LEASE,
  MAX_RECEIVES,
  MESSAGES_AT_ONCE,
  MINUTE,
  REGISTER_LIMITS,
  RETENTION,
  SECOND,
} from '../../src/domain/timings.ts';

export type WorkingQueueName = keyof typeof MESSAGES_AT_ONCE;

/** A queue that a function works off, as it is and not as it should be. */
export interface QueueSettings {
  readonly queue: WorkingQueueName;
  /** After this an undeleted message is delivered again. */
  readonly visibility: Millis;
  /** How long a message is kept. */
  readonly retention: Millis;
  /** Absent where messages that fail are no dead letters ever. */
  readonly deadLetters?: { readonly afterReceives: number; readonly retention: Millis };
  /** Absent where no function works it off. */
  readonly worker?: WorkerSettings;
}

export interface WorkerSettings {
  readonly timeout: Millis;
  /** Messages of one invocation. */
  readonly batchSize: number;
  /** Whether it says which messages failed: otherwise all of an invocation come back for one. */
  readonly reportsFailures: boolean;
  /** Whether its event source hands messages on. */
  readonly isOn: boolean;
  /** Invocations at once that the event source makes at the most. Absent: as many as the account has. */
  readonly maxConcurrency?: number;
  /** Invocations at once that the function is held to. Absent: as many as the account has. */
  readonly reserved?: number;
}

/** A stack as it is. */
export interface Deployed {
  readonly queues: readonly QueueSettings[];
  /** The functions' names. */
  readonly functions: readonly string[];
  /** Whether each deletes the rows whose time is over. */
  readonly tables: readonly { readonly name: string; readonly forgets: boolean }[];
}

/** What is wrong, and what to do. */
export interface Contradiction {
  /** The rule that is broken; stable, for programs. */
  readonly rule: string;
  readonly what: string;
  readonly do: string;
}

const DEPLOY = 'deploy again (`npm run deploy`), which puts it back';

/** As many messages at once as a function has time for. */
const TIME_FOR = { ...MESSAGES_AT_ONCE, register: REGISTER_LIMITS.messages };

/** The queues whose messages keep a Target's leader alive: timeout < lease < visibility. */
const LEADING: ReadonlySet<WorkingQueueName> = new Set(['elect', 'group']);

export const contradictionsIn = ({ queues, tables }: Deployed): readonly Contradiction[] => [
  ...queues.flatMap((each) => [
    ...ofRetention(each),
    ...ofDeadLetters(each),
    ...(each.worker ? ofWorker(each, each.worker) : [unworked(each)]),
  ]),
  ...tables.filter(({ forgets }) => !forgets).map(remembering),
];

const remembering = ({ name }: Deployed['tables'][number]): Contradiction => ({
  rule: 'no-expiry',
  what: `the table ${name} does not delete rows whose time is over (time to live is off): it grows for ever`,
  do: DEPLOY,
});

const seconds = (duration: Millis): string => `${duration / SECOND} s`;
const days = (duration: Millis): string => `${Math.round(duration / (24 * 60 * MINUTE))} days`;
const span = (duration: Millis): string => (duration < 24 * 60 * MINUTE ? seconds(duration) : days(duration));

const unworked = ({ queue }: QueueSettings): Contradiction => ({
  rule: 'no-worker',
  what: `nobody works off the ${queue} queue`,
  do: DEPLOY,
});

const ofRetention = ({ queue, retention }: QueueSettings): Contradiction[] =>
  retention >= RETENTION
    ? []
    : [
        {
          rule: 'short-retention',
          what: `messages of the ${queue} queue are deleted after ${span(retention)}, not ${span(RETENTION)}: what an outage or a pause holds up is lost by then`,
          do: DEPLOY,
        },
      ];

const ofDeadLetters = ({ queue, retention, deadLetters }: QueueSettings): Contradiction[] => {
  if (!deadLetters)
    return [
      {
        rule: 'no-dead-letters',
        what: `what fails in the ${queue} queue is tried until it is ${days(retention)} old, and then lost`,
        do: DEPLOY,
      },
    ];
  const found: Contradiction[] = [];
  if (deadLetters.afterReceives < MAX_RECEIVES)
    found.push({
      rule: 'few-receives',
      what: `a message of the ${queue} queue is a dead letter after ${deadLetters.afterReceives} tries, not ${MAX_RECEIVES}: a short outage is enough`,
      do: DEPLOY,
    });
  // SQS counts a letter's age from the day when it was sent first.
  if (deadLetters.retention < retention)
    found.push({
      rule: 'letters-expire-first',
      what: `dead letters of ${queue} are kept for ${days(deadLetters.retention)}, its messages for ${days(retention)}: a letter may be deleted as it becomes one`,
      do: DEPLOY,
    });
  return found;
};

const ofWorker = (of: QueueSettings, worker: WorkerSettings): Contradiction[] => [
  ...ofTimes(of, worker),
  ...ofSource(of, worker),
  ...ofConcurrency(of, worker),
];

const ofTimes = ({ queue, visibility }: QueueSettings, { timeout }: WorkerSettings): Contradiction[] => {
  if (visibility <= timeout)
    return [
      {
        rule: 'visibility-timeout',
        what: `a message of the ${queue} queue is delivered again after ${seconds(visibility)}, while its function may still work on it for ${seconds(timeout)}`,
        do: DEPLOY,
      },
    ];
  if (!LEADING.has(queue)) return [];
  const found: Contradiction[] = [];
  if (timeout >= LEASE)
    found.push({
      rule: 'timeout-lease',
      what: `the function of the ${queue} queue may run for ${seconds(timeout)}, longer than the lease that it holds (${seconds(LEASE)}): another one takes over while it works`,
      do: DEPLOY,
    });
  if (visibility <= LEASE)
    found.push({
      rule: 'lease-visibility',
      what: `a message of the ${queue} queue comes back after ${seconds(visibility)}, before a dead leader's lease has ended (${seconds(LEASE)}): it finds the Target taken, and is gone`,
      do: DEPLOY,
    });
  return found;
};

const ofSource = ({ queue }: QueueSettings, worker: WorkerSettings): Contradiction[] => {
  const found: Contradiction[] = [];
  if (!worker.isOn)
    found.push({
      rule: 'source-off',
      what: `the event source of the ${queue} queue is switched off: its messages wait`,
      do: 'switch it on again when what it was switched off for is mended (`aws lambda update-event-source-mapping --enabled`)',
    });
  if (!worker.reportsFailures)
    found.push({
      rule: 'failures-unreported',
      what: `where one message of the ${queue} queue fails, all of its invocation are taken for done or come back: its event source does not report failures one by one`,
      do: DEPLOY,
    });
  const most = TIME_FOR[queue];
  if (worker.batchSize > most)
    found.push({
      rule: 'batch-size',
      what: `the function of the ${queue} queue gets up to ${worker.batchSize} messages at once, and has time for ${most}`,
      do: DEPLOY,
    });
  return found;
};

const ofConcurrency = (
  { queue }: QueueSettings,
  { maxConcurrency = Number.POSITIVE_INFINITY, reserved }: WorkerSettings,
): Contradiction[] => {
  if (reserved === undefined || reserved >= maxConcurrency) return [];
  return [
    reserved === 0
      ? {
          rule: 'reserved-none',
          what: `the function of the ${queue} queue may not run at all (reserved concurrency 0): its messages become dead letters`,
          do: 'take the reserved concurrency away (`aws lambda delete-function-concurrency`); to stop the flow, pause its operations',
        }
      : {
          rule: 'reserved-few',
          what: `the function of the ${queue} queue runs ${reserved} times at once at the most (reserved concurrency), and its event source begins up to ${maxConcurrency}: the others are throttled, and become dead letters`,
          do: "take the reserved concurrency away; the event source's own maximum holds back without throttling",
        },
  ];
};
