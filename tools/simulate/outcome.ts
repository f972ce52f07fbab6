/** Results of a simulation. */

import type { SealReason } from '../../src/domain/batches/policy.ts';
import type { Millis } from '../../src/domain/ids.ts';

/**
 * Distribution of values. Quantiles have a relative error of up to 1%; the other figures are exact. All figures are 0
 * if there are no values.
 */
export interface Spread {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface OperationOutcome {
  readonly operation: string;
  /** Registered tasks, and how many succeeded and failed. */
  readonly tasks: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Sealed batches with at least one member, in total and by reason of the seal. */
  readonly batches: number;
  readonly sealedBy: Readonly<Partial<Record<SealReason, number>>>;
  /** Tasks per batch. */
  readonly sizes: Spread;
  /** Members of all batches divided by their capacity (`maxSize`), 0 to 1. */
  readonly fill: number;
  /** Time from a task's send to the first call that includes it, in ms. */
  readonly waits: Spread;
  /** The part of the wait beyond the policy's maximum, in ms. */
  readonly late: Spread;
  /** Calls to the downstream. `throttled`: refused with 429. `unanswered`: failed otherwise. */
  readonly calls: number;
  /** Time from the first to the last call, in ms. It exceeds `sentOver` if calls could not keep up with the tasks. */
  readonly calledOver: Millis;
  readonly throttled: number;
  readonly unanswered: number;
}

/** How a limit held calls back. */
export interface LimitOutcome {
  readonly limit: string;
  readonly operations: readonly string[];
  /** Calls that count under the limit, and how many of them it delayed. */
  readonly calls: number;
  readonly delayed: number;
  /** Age of the oldest task of a delayed call when the call could start, in ms. */
  readonly ages: Spread;
}

/** Usage that AWS bills. */
export interface Usage {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** SQS requests as billed, without the producers' and without empty long polls. */
  readonly sqsRequests: number;
  readonly invocations: Readonly<Record<string, number>>;
  /** Total duration of all functions. */
  readonly lambdaMillis: Millis;
}

/** What producers sent. */
interface Produced {
  /** Number of register messages. */
  readonly messages: number;
  /** SQS requests as billed, if producers send each message alone. */
  readonly oneByOne: number;
  /** SQS requests as billed, if producers send ten messages at once. */
  readonly tenAtOnce: number;
}

/** One time interval of the trace. */
export interface Stretch {
  /** Start, in ms since the start of the trace. */
  readonly at: Millis;
  readonly arrived: number;
  readonly calls: number;
  readonly throttled: number;
  /** Tasks that were sent but not yet included in a call, at the end of the interval. */
  readonly waiting: number;
}

export interface Outcome {
  /** Time from the first task's send to the end of the last task, in ms. */
  readonly span: Millis;
  /** Time from the first to the last send, in ms. Rates refer to this time. */
  readonly sentOver: Millis;
  readonly operations: readonly OperationOutcome[];
  /** All limits of the configuration that operations use. */
  readonly limits: readonly LimitOutcome[];
  /** Rejected messages, and the first few reasons. */
  readonly rejected: number;
  readonly rejections: readonly string[];
  /** Guards that were received before their leader had stored the hand-over. Each retries after 100 ms (G7). */
  readonly earlyGuards: number;
  readonly usage: Usage;
  readonly produced: Produced;
  /** At most a few hundred intervals, all of the same length. */
  readonly timeline: readonly Stretch[];
}
