/**
 * Finds settings that contradict each other. A deployment sets them consistently; a manual change of one setting may
 * break this consistency. Pure.
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

/** Actual settings of a queue that a function reads. */
export interface QueueSettings {
  readonly queue: WorkingQueueName;
  /** Visibility timeout. */
  readonly visibility: Millis;
  /** Retention of messages. */
  readonly retention: Millis;
  /** Absent if the queue has no dead-letter queue. */
  readonly deadLetters?: { readonly afterReceives: number; readonly retention: Millis };
  /** Absent if no function reads the queue. */
  readonly worker?: WorkerSettings;
}

export interface WorkerSettings {
  readonly timeout: Millis;
  /** Maximum number of messages of one invocation. */
  readonly batchSize: number;
  /** Whether the event source accepts partial failures. Otherwise one failed message returns all messages of the invocation. */
  readonly reportsFailures: boolean;
  /** Whether the event source is enabled. */
  readonly isOn: boolean;
  /** Maximum concurrency of the event source. Absent: no limit except the account's. */
  readonly maxConcurrency?: number;
  /** Reserved concurrency of the function. Absent: no limit except the account's. */
  readonly reserved?: number;
}

/** Actual settings of a stack. */
export interface Deployed {
  readonly queues: readonly QueueSettings[];
  /** Names of the functions. */
  readonly functions: readonly string[];
  /**
   * `forgets`: whether time to live is enabled, so that expired rows are deleted. `indexes`: the table's global
   * secondary indexes.
   */
  readonly tables: readonly { readonly name: string; readonly forgets: boolean; readonly indexes: readonly string[] }[];
}

/** A problem and its remedy. */
export interface Contradiction {
  /** Code of the broken rule; stable, for programs. */
  readonly rule: string;
  readonly what: string;
  readonly do: string;
}

const DEPLOY = 'deploy again (`npm run deploy`) to restore the setting';

/** Number of messages that a function can handle in one invocation within its timeout. */
const TIME_FOR = { ...MESSAGES_AT_ONCE, register: REGISTER_LIMITS.messages };

/** The queues whose functions hold a Target's lock. They need function timeout < lease < visibility timeout. */
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
  what: `the table ${name} does not delete expired rows (time to live is off), so it grows without limit`,
  do: DEPLOY,
});

const seconds = (duration: Millis): string => `${duration / SECOND} s`;
const days = (duration: Millis): string => `${Math.round(duration / (24 * 60 * MINUTE))} days`;
const span = (duration: Millis): string => (duration < 24 * 60 * MINUTE ? seconds(duration) : days(duration));

const unworked = ({ queue }: QueueSettings): Contradiction => ({
  rule: 'no-worker',
  what: `no function reads the ${queue} queue: its messages wait`,
  do: DEPLOY,
});

const ofRetention = ({ queue, retention }: QueueSettings): Contradiction[] =>
  retention >= RETENTION
    ? []
    : [
        {
          rule: 'short-retention',
          what: `messages of the ${queue} queue are deleted after ${span(retention)}, not ${span(RETENTION)}: tasks that an outage or a pause delays for longer are lost`,
          do: DEPLOY,
        },
      ];

const ofDeadLetters = ({ queue, retention, deadLetters }: QueueSettings): Contradiction[] => {
  if (!deadLetters)
    return [
      {
        rule: 'no-dead-letters',
        what: `the ${queue} queue has no dead-letter queue: a failing message is retried for ${days(retention)}, then it is lost`,
        do: DEPLOY,
      },
    ];
  const found: Contradiction[] = [];
  if (deadLetters.afterReceives < MAX_RECEIVES)
    found.push({
      rule: 'few-receives',
      what: `a message of the ${queue} queue becomes a dead letter after ${deadLetters.afterReceives} receives instead of ${MAX_RECEIVES}, so even a short outage causes dead letters`,
      do: DEPLOY,
    });
  // The age of a dead letter counts from the first send to the original queue.
  if (deadLetters.retention < retention)
    found.push({
      rule: 'letters-expire-first',
      what: `dead letters of the ${queue} queue are kept for ${days(deadLetters.retention)}, but the messages of that queue for ${days(retention)}: an old message may be deleted as soon as it becomes a dead letter`,
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
        what: `a message of the ${queue} queue is delivered again after ${seconds(visibility)} (visibility timeout), but its function may run for ${seconds(timeout)}: the message may be handled twice at the same time`,
        do: DEPLOY,
      },
    ];
  if (!LEADING.has(queue)) return [];
  const found: Contradiction[] = [];
  if (timeout >= LEASE)
    found.push({
      rule: 'timeout-lease',
      what: `the function of the ${queue} queue may run for ${seconds(timeout)}, longer than its lease on the Target (${seconds(LEASE)}): another leader may take over while the function still runs`,
      do: DEPLOY,
    });
  if (visibility <= LEASE)
    found.push({
      rule: 'lease-visibility',
      what: `a message of the ${queue} queue is delivered again after ${seconds(visibility)}, before the lease of a crashed leader has expired (${seconds(LEASE)}): the message finds the Target locked and has no effect`,
      do: DEPLOY,
    });
  return found;
};

const ofSource = ({ queue }: QueueSettings, worker: WorkerSettings): Contradiction[] => {
  const found: Contradiction[] = [];
  if (!worker.isOn)
    found.push({
      rule: 'source-off',
      what: `the event source of the ${queue} queue is disabled: its messages wait`,
      do: 'enable the event source when the reason for disabling it no longer exists (`aws lambda update-event-source-mapping --enabled`)',
    });
  if (!worker.reportsFailures)
    found.push({
      rule: 'failures-unreported',
      what: `the event source of the ${queue} queue does not report batch item failures: if one message fails, all messages of the invocation are deleted or all are delivered again`,
      do: DEPLOY,
    });
  const most = TIME_FOR[queue];
  if (worker.batchSize > most)
    found.push({
      rule: 'batch-size',
      what: `the function of the ${queue} queue receives up to ${worker.batchSize} messages per invocation, but has time for ${most}`,
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
          what: `the function of the ${queue} queue cannot run (reserved concurrency 0): its messages become dead letters`,
          do: 'remove the reserved concurrency (`aws lambda delete-function-concurrency`). To stop calls, pause the operations instead',
        }
      : {
          rule: 'reserved-few',
          what: `the function of the ${queue} queue has a reserved concurrency of ${reserved}, but its event source starts up to ${maxConcurrency} invocations at once: the excess is throttled, and its messages may become dead letters`,
          do: 'remove the reserved concurrency. The maximum concurrency of the event source limits invocations without throttling',
        },
  ];
};
