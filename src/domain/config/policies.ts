/** How an operation fills its batches, tries again and holds back: types alone. */

import type { Millis } from '../ids.ts';

/** How many batches may be under way at once; null is any number. */
export interface Concurrency {
  /** Of one Target. */
  readonly perTarget: number | null;
  /** Of the operation. */
  readonly total: number | null;
}

/** When calls stop because the downstream is down, or wrongly configured. */
export interface CircuitPolicy {
  /** So many calls in a row that came to nothing open it. */
  readonly failures: number;
  /** How long it stays open until one call tries. */
  readonly coolDown: Millis;
}

/** How an operation fills its batches. */
export interface BatchPolicy {
  /** Tasks in a batch at the most, 1 to 1,000. */
  readonly maxSize: number;
  /** Bytes of a batch's items at the most, as the downstream receives them. */
  readonly maxBytes: number;
  /** Weight of a batch's tasks at the most; 0 is any. */
  readonly maxWeight: number;
  /** How long the oldest task waits for others, in milliseconds. With a window: its length. */
  readonly maxWait: Millis;
  /** A Target that got no task for so long is sealed; 0 is never. */
  readonly quietPeriod: Millis;
  /** Below this number quiet alone does not seal. */
  readonly minSize: number;
  /** Batches are due when a window of this length ends, which all Targets share; null is without windows. */
  readonly window: Millis | null;
  /** A task of so many bytes does not wait for its window, and goes alone; null is none. */
  readonly bypass: number | null;
}

export interface RetryPolicy {
  /** Further calls within one attempt, at once. */
  readonly immediate: number;
  /** Attempts at the most. */
  readonly maxAttempts: number;
  /** The longest first delay; it doubles with every attempt, up to `maxDelay`. */
  readonly minDelay: Millis;
  readonly maxDelay: Millis;
  /** Whether a call that was refused as a whole is tried in halves, until the tasks at fault are alone. */
  readonly bisect: boolean;
}
