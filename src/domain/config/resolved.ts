/** The configuration as the handlers read it: checked, every default filled in, every duration in milliseconds. */

import type { Millis, OperationName } from '../ids.ts';
import type { Grouping } from '../target.ts';
import {
  AWS_CALL,
  CALLBACK_MARGIN,
  GRACE,
  HANDLER_OVERHEAD,
  MESSAGES_AT_ONCE,
  REGISTER_VISIBILITY,
} from '../timings.ts';
import type { Destination, DownstreamTarget } from './endpoints.ts';
import type { BatchPolicy, CircuitPolicy, Concurrency, RetryPolicy } from './policies.ts';

/** Who is told of an operation's tasks: names of destinations, null for nobody. A task may name one of its own. */
export interface Callbacks {
  readonly failed: string | null;
  readonly succeeded: string | null;
}

export interface Operation extends Grouping {
  readonly batch: BatchPolicy;
  /** The members' inputs become one job; `keys` is the path of the list and of the key in its elements. */
  readonly merge: { readonly keys: string } | null;
  readonly concurrency: Concurrency;
  readonly downstream: DownstreamTarget;
  readonly retry: RetryPolicy;
  readonly callbacks: Callbacks;
  /** Calls per second at the most. */
  readonly rateLimit: number | null;
  readonly circuit: CircuitPolicy | null;
  /** How long finished tasks and batches can be looked up. */
  readonly keepTasks: Millis;
}

/** How register messages reach their function. */
export interface RegisterPolicy {
  /** As many at once at the most. */
  readonly maxMessages: number;
  /** How long the first of them waits for others: whole seconds, in milliseconds. */
  readonly maxWait: Millis;
}

/** What holds for every fan-out. */
export interface FanOutPolicy {
  /** How long nothing may happen in one until it expires: before it is sealed, and then. */
  readonly idleOpen: Millis;
  readonly idleSealed: Millis;
  /** How long one that is complete answers acks, and can be looked up. */
  readonly keep: Millis;
  /** The destination that is told how fan-outs end which name none; null for nobody. */
  readonly callback: string | null;
}

/** What holds for every deferred list. */
export interface ListPolicy {
  /** How long one that has ended can be looked up. */
  readonly keep: Millis;
  /** The destination that is told how lists end which name none; null for nobody. */
  readonly callback: string | null;
}

/** Whom the alarms call, and when. */
export interface AlarmPolicy {
  /** The ARN of an SNS topic; null for nobody. */
  readonly topic: string | null;
  /** Where docs/how-to/operate.md is to be read: what alarms link to, up to the anchor. */
  readonly runbook: string;
  /** So many batches of an operation that failed, all of them or in part, within a quarter of an hour are too many. */
  readonly failedBatches: number;
}

/** Messages are handed on as they come. */
export const AS_THEY_COME: RegisterPolicy = { maxMessages: MESSAGES_AT_ONCE.register, maxWait: 0 };

/** Where nobody is called. */
export const NO_ALARMS: AlarmPolicy = { topic: null, runbook: 'docs/how-to/operate.md', failedBatches: 1 };

export interface Config {
  readonly version: 1;
  readonly operations: Readonly<Record<OperationName, Operation>>;
  readonly register: RegisterPolicy;
  readonly fanOuts: FanOutPolicy;
  readonly lists: ListPolicy;
  readonly destinations: Readonly<Record<string, Destination>>;
  /** Null: no dashboard either. */
  readonly alarms: AlarmPolicy | null;
}

/** The operation of a name, own properties only. */
export const operationNamed = (config: Config, name: string): Operation | undefined =>
  Object.hasOwn(config.operations, name) ? config.operations[name as OperationName] : undefined;

/** A Target or batch, mostly a stored one, whose operation is not configured. */
export class UnknownOperation extends Error {
  override readonly name = 'UnknownOperation';
  readonly operation: string;
  constructor(operation: string) {
    super(
      `operation "${operation}" is not in the configuration: if tasks of it are stored, put it back until they are done, then remove it`,
    );
    this.operation = operation;
  }
}

/** The operation that stored rows belong to. @throws UnknownOperation */
export const operationFor = (config: Config, name: OperationName): Operation => {
  const operation = operationNamed(config, name);
  if (!operation) throw new UnknownOperation(name);
  return operation;
};

/** How long what an operation finished is kept. @throws UnknownOperation */
export const keepTasksIn =
  (config: Config) =>
  (name: OperationName): Millis =>
    operationFor(config, name).keepTasks;

/** How long one attempt at an operation's batch may take: each of its calls, and what is around them. Whole seconds. */
export const attemptTime = (timeout: Millis, immediate: number): Millis =>
  Math.ceil((timeout * (immediate + 1) + HANDLER_OVERHEAD) / 1_000) * 1_000;

/** The longest that the policy lets a task wait: to the end of its window, where there are any. */
export const longestWait = ({ batch: { maxWait, window } }: Pick<Operation, 'batch'>): Millis => window ?? maxWait;

/**
 * For how long a task has waited when it is late: what it may wait, and twice what the doctor grants a message that is under
 * way; once until a Target counts as stuck, and once for the patrol that repairs it.
 */
export const lateAfter = (operation: Pick<Operation, 'batch'>): Millis => longestWait(operation) + 2 * GRACE;

/** The timeout of the λ that calls downstream: the longest attempt of any operation. */
export const handlerTimeout = (config: Config): Millis =>
  Math.max(
    ...Object.values(config.operations).map(({ downstream, retry }) =>
      attemptTime(downstream.timeout, retry.immediate),
    ),
  );

/** After this a register message that nobody deleted is delivered again: while messages are gathered their time runs. */
export const registerVisibility = ({ register }: Pick<Config, 'register'>): Millis =>
  REGISTER_VISIBILITY + register.maxWait;

/** After this a batch message that nobody deleted is delivered again: six timeouts, as AWS recommends. */
export const batchVisibility = (config: Config): Millis => 6 * handlerTimeout(config);

/** The timeout of the λ that calls destinations: the slowest one's, and what is around its call. Whole seconds. */
export const callbackTimeout = ({ destinations }: Config): Millis => {
  const longest = Math.max(...Object.values(destinations).map((each) => (each.kind === 'http' ? each.timeout : 0)));
  // A queue is asked for its address first.
  return Math.ceil((Math.max(longest, 2 * AWS_CALL) + HANDLER_OVERHEAD) / 1_000) * 1_000;
};

/** After this an event comes back that its function neither delivered nor put off, since it died. */
export const callbackVisibility = (config: Config): Millis => callbackTimeout(config) + CALLBACK_MARGIN;
