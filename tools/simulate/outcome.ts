/** What a simulated trace came to. */

import type { SealReason } from '../../src/domain/batches/policy.ts';
import type { Millis } from '../../src/domain/ids.ts';

/** How something is spread: quantiles within 1% of themselves, the rest exact. Zeros where there was nothing. */
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
  /** Tasks that were registered, and how they ended. */
  readonly tasks: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Batches that were sealed with somebody in them, and why. */
  readonly batches: number;
  readonly sealedBy: Readonly<Partial<Record<SealReason, number>>>;
  /** Tasks in a batch. */
  readonly sizes: Spread;
  /** Members of all batches by what they could have held (`maxSize`), 0 to 1. */
  readonly fill: number;
  /** From when a task was sent until the first call that it was in, in ms. */
  readonly waits: Spread;
  /** The part of that beyond what the policy lets a task wait, in ms. */
  readonly late: Spread;
  /** Calls downstream, those of them that were refused for their rate (429), and that came to nothing otherwise. */
  readonly calls: number;
  /** From the first call to the last one, in ms: longer than tasks were sent where there are more than can be called about. */
  readonly calledOver: Millis;
  readonly throttled: number;
  readonly unanswered: number;
}

/** What AWS bills. */
export interface Usage {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Beyond the producers' own; long polls that got nothing are not among them. */
  readonly sqsRequests: number;
  readonly invocations: Readonly<Record<string, number>>;
  /** What the functions took together. */
  readonly lambdaMillis: Millis;
}

/** A stretch of the trace. */
export interface Stretch {
  /** From the beginning of the trace, in ms. */
  readonly at: Millis;
  readonly arrived: number;
  readonly calls: number;
  readonly throttled: number;
  /** Tasks that had been sent and were in no call yet, at its end. */
  readonly waiting: number;
}

export interface Outcome {
  /** From the first task until the last one ended, in ms. */
  readonly span: Millis;
  /** From the first task to the last one, in ms: rates go by this. */
  readonly sentOver: Millis;
  readonly operations: readonly OperationOutcome[];
  /** Messages that were refused, and the reasons of the first few. */
  readonly rejected: number;
  readonly rejections: readonly string[];
  /** Guards that were received before their leader had written that it hands over; each looks again 100 ms later (rule G7). */
  readonly earlyGuards: number;
  readonly usage: Usage;
  /** At most some hundreds of stretches, all of the same length. */
  readonly timeline: readonly Stretch[];
}
