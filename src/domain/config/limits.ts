/** Limits of calls, which operations share. Types only. */

import type { Millis } from '../ids.ts';

/**
 * A limit of the calls of all operations that name it. Null means no limit.
 *
 * At least one of the four numbers is set. If `weight` or `concurrency.weight` is set, `batch.maxWeight` of each
 * operation that names the limit is set and not above it, so that one call alone fits.
 */
export interface Limit {
  /** Most calls that start in any span of length `per`. */
  readonly calls: number | null;
  /** Largest sum of the task weights of the calls that start in any span of length `per`. */
  readonly weight: number | null;
  readonly per: Millis;
  /** How many calls may start at once, not above `calls`; with 1, calls are evenly paced. */
  readonly burst: number;
  /**
   * Which calls share a bucket, in which they are counted. A list of payload fields, all of them grouping keys of each
   * operation that names the limit: one bucket for each combination of their values. `target`: one bucket for each
   * Target. Null: one bucket for all calls.
   */
  readonly key: readonly string[] | 'target' | null;
  /** Most calls in progress, and the largest sum of their task weights. */
  readonly concurrency: { readonly calls: number | null; readonly weight: number | null };
}
