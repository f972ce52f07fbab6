/**
 * The configuration as the functions use it: checked, with every default filled in and every duration in milliseconds.
 */

import type { LimitName, Millis, OperationName } from '../ids.ts';
import type { ProducerRules, Producers, RulesMode } from '../producers/rules.ts';
import type { Grouping } from '../target.ts';
import {
  AWS_CALL,
  CALLBACK_MARGIN,
  GRACE,
  HANDLER_OVERHEAD,
  MESSAGES_AT_ONCE,
  MINUTE,
  REGISTER_VISIBILITY,
} from '../timings.ts';
import type { Destination, DownstreamTarget } from './endpoints.ts';
import type { Limit } from './limits.ts';
import type { BatchPolicy, CircuitPolicy, Concurrency, RetryPolicy } from './policies.ts';
import type { Sources } from './settings.ts';

/** Names of the destinations for an operation's events; null for none. A task may name its own destination. */
export interface Callbacks {
  readonly failed: string | null;
  readonly succeeded: string | null;
}

export interface Operation extends Grouping {
  readonly batch: BatchPolicy;
  /**
   * If set, the members' inputs are merged into one job. `keys` is the path to the list, and to the key in its
   * elements.
   */
  readonly merge: { readonly keys: string } | null;
  readonly concurrency: Concurrency;
  readonly downstream: DownstreamTarget;
  readonly retry: RetryPolicy;
  readonly callbacks: Callbacks;
  /** Most calls per second. */
  readonly rateLimit: number | null;
  /** Limits of the operation's calls, each once. Sorted by name, because they are taken in this order. */
  readonly limits: readonly LimitName[];
  readonly circuit: CircuitPolicy | null;
  /** How long finished tasks and batches are stored. */
  readonly keepTasks: Millis;
  /** What producers may do. @default - tasks of all senders, each coalescing only with its own; see ProducerRules */
  readonly producers?: ProducerRules;
}

/** How the register function receives its messages. */
export interface RegisterPolicy {
  /** Most messages of one invocation. */
  readonly maxMessages: number;
  /** How long the first message waits for other messages, in milliseconds. A multiple of one second. */
  readonly maxWait: Millis;
}

/** The settings of all fan-outs. */
export interface FanOutPolicy {
  /** After how long without an ack, add or seal an open fan-out expires; `idleSealed` is the time for a sealed one. */
  readonly idleOpen: Millis;
  readonly idleSealed: Millis;
  /** How long a complete fan-out is stored. Acks are answered during this time. */
  readonly keep: Millis;
  /** The destination for events of fan-outs that name no destination. Null if these events go nowhere. */
  readonly callback: string | null;
}

/** The settings of all deferred lists. */
export interface ListPolicy {
  /** How long a list is stored after its end. */
  readonly keep: Millis;
  /** How often a job is handed out to workers before it fails, if its list names no number of its own. */
  readonly maxDeliveries: number;
  /** The destination for events of lists that name no destination. Null if these events go nowhere. */
  readonly callback: string | null;
}

/** Where alarms are sent, and their thresholds. */
export interface AlarmPolicy {
  /** The ARN of an SNS topic for alarms. Null if there is no topic. */
  readonly topic: string | null;
  /** The address of docs/how-to/operate.md. Alarms link to it, followed by an anchor. */
  readonly runbook: string;
  /** An alarm is raised if this many batches of an operation fail, in whole or in part, within 15 minutes. */
  readonly failedBatches: number;
}

/** The register function receives messages as they arrive, without waiting for more. */
export const AS_THEY_COME: RegisterPolicy = { maxMessages: MESSAGES_AT_ONCE.register, maxWait: 0 };

/** The default: no alarm is sent anywhere. */
export const NO_ALARMS: AlarmPolicy = { topic: null, runbook: 'docs/how-to/operate.md', failedBatches: 1 };

/** The default: entries of the audit trail are stored for 400 days, more than a year. */
export const KEEP_AUDIT: Millis = 400 * 24 * 60 * MINUTE;

export interface Config {
  readonly version: 1;
  readonly operations: Readonly<Record<OperationName, Operation>>;
  /** Where the values of each operation come from. */
  readonly sources: Readonly<Record<OperationName, Sources>>;
  /** All limits that operations may name, including those that no operation names. */
  readonly limits: Readonly<Record<LimitName, Limit>>;
  readonly register: RegisterPolicy;
  readonly fanOuts: FanOutPolicy;
  readonly lists: ListPolicy;
  readonly destinations: Readonly<Record<string, Destination>>;
  /** The unique ids of senders, by the names that rules use. @default - none */
  readonly producers?: Producers;
  /** @default - decided once for each stage: `enforce` if it had registered nothing before, otherwise `warn` */
  readonly producerRules?: RulesMode | undefined;
  /** If null, the dashboard is left out as well. */
  readonly alarms: AlarmPolicy | null;
  /** How long entries of the audit trail are stored. */
  readonly keepAudit: Millis;
}

/**
 * The operation with this name, if it is configured. Inherited names such as `constructor` do not count as configured.
 */
export const operationNamed = (config: Config, name: string): Operation | undefined =>
  Object.hasOwn(config.operations, name) ? config.operations[name as OperationName] : undefined;

/** A stored Target or batch belongs to an operation that is not configured. */
export class UnknownOperation extends Error {
  override readonly name = 'UnknownOperation';
  readonly operation: string;
  constructor(operation: string) {
    super(
      `operation "${operation}" is not in the configuration. If it still has stored tasks, add the operation again, and remove it when these tasks have ended`,
    );
    this.operation = operation;
  }
}

/** The operation to which stored rows belong. @throws UnknownOperation */
export const operationFor = (config: Config, name: OperationName): Operation => {
  const operation = operationNamed(config, name);
  if (!operation) throw new UnknownOperation(name);
  return operation;
};

/** How long an operation's finished tasks and batches are stored. @throws UnknownOperation */
export const keepTasksIn =
  (config: Config) =>
  (name: OperationName): Millis =>
    operationFor(config, name).keepTasks;

/**
 * The longest time of one attempt, in whole seconds as milliseconds: its calls with immediate retries, and the
 * overhead.
 */
export const attemptTime = (timeout: Millis, immediate: number): Millis =>
  Math.ceil((timeout * (immediate + 1) + HANDLER_OVERHEAD) / 1_000) * 1_000;

/** The longest time that the policy lets a task wait: `maxWait`, or a window's length. */
export const longestWait = ({ batch: { maxWait, window } }: Pick<Operation, 'batch'>): Millis => window ?? maxWait;

/**
 * The waiting time after which a task counts as late. It is the longest wait plus twice the grace time: once until the
 * Target counts as stuck, and once until the patrol has repaired it.
 */
export const lateAfter = (operation: Pick<Operation, 'batch'>): Millis => longestWait(operation) + 2 * GRACE;

/** The timeout of the batch handler's function: the longest attempt of any operation. */
export const handlerTimeout = (config: Config): Millis =>
  Math.max(
    ...Object.values(config.operations).map(({ downstream, retry }) =>
      attemptTime(downstream.timeout, retry.immediate),
    ),
  );

/**
 * The visibility timeout of register messages. It includes `maxWait`, because it runs while Lambda gathers messages.
 */
export const registerVisibility = ({ register }: Pick<Config, 'register'>): Millis =>
  REGISTER_VISIBILITY + register.maxWait;

/** The visibility timeout of batch messages: six function timeouts, as AWS recommends. */
export const batchVisibility = (config: Config): Millis => 6 * handlerTimeout(config);

/**
 * The timeout of the callback function, in whole seconds as milliseconds: the longest call of a destination, and the
 * overhead.
 */
export const callbackTimeout = ({ destinations }: Config): Millis => {
  const longest = Math.max(...Object.values(destinations).map((each) => (each.kind === 'http' ? each.timeout : 0)));
  // To send to a queue, the function makes two calls, because it looks up the queue's address first.
  return Math.ceil((Math.max(longest, 2 * AWS_CALL) + HANDLER_OVERHEAD) / 1_000) * 1_000;
};

/** The visibility timeout of events. It matters only for an event whose invocation crashed. */
export const callbackVisibility = (config: Config): Millis => callbackTimeout(config) + CALLBACK_MARGIN;
