/** How an operation fills its batches, retries, and limits its calls. Types only. */

import type { Millis } from '../ids.ts';

/** Limits of batches in flight. Null means no limit. */
export interface Concurrency {
  /** Batches of one Target. */
  readonly perTarget: number | null;
  /** Batches of the whole operation. */
  readonly total: number | null;
}

/** When calls stop because the downstream is down or its configuration is wrong. */
export interface CircuitPolicy {
  /** Failed attempts in a row that open the circuit. */
  readonly failures: number;
  /** How long the circuit stays open before one batch tries a call. */
  readonly coolDown: Millis;
}

/** How an operation fills its batches. */
export interface BatchPolicy {
  /** Most tasks in a batch, 1 to 1,000. */
  readonly maxSize: number;
  /** Most bytes of a batch's items, as the downstream receives them. */
  readonly maxBytes: number;
  /** Largest sum of the weights of a batch's tasks; 0 is no limit. */
  readonly maxWeight: number;
  /** How long the oldest task waits for other tasks. With a window, this is the window's length. */
  readonly maxWait: Millis;
  /** If no task arrives for this long, the Target's batch is due; 0 turns this off. */
  readonly quietPeriod: Millis;
  /** Fewest tasks with which a quiet period makes a batch due. */
  readonly minSize: number;
  /** Length of the windows at whose end batches are due. All Targets share the windows; null turns them off. */
  readonly window: Millis | null;
  /** A task of at least this many bytes goes alone and does not wait for its window; null turns this off. */
  readonly bypass: number | null;
}

export interface RetryPolicy {
  /** Immediate retries of a call within one attempt. */
  readonly immediate: number;
  /** Most counted attempts. */
  readonly maxAttempts: number;
  /** Upper limit of the first delay. It doubles with each attempt, up to `maxDelay`. */
  readonly minDelay: Millis;
  readonly maxDelay: Millis;
  /** Whether a call that was refused as a whole is halved until the tasks at fault are alone. */
  readonly bisect: boolean;
  /**
   * Whether a batch that fails while the downstream works (5xx, or no answer) is called in parts until the tasks at
   * fault are alone.
   */
  readonly isolate: boolean;
}
