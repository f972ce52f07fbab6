/** The store of waiting rows: the tasks of a Target that wait for a batch, in the order in which batches take them. */

import type { Waiting, WaitingTask } from '../domain/batches/policy.ts';
import type { Target } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

export interface WaitingTasks {
  /**
   * Puts a waiting row for each task (R2). Repeating it does no harm, because the row is computed from the stored task.
   */
  put(tasks: readonly (WaitingTask & { readonly target: Target })[]): Promise<void>;
  /** The first rows of a Target, at most `limit`. */
  first(target: Target, limit: number): Promise<readonly Waiting[]>;
  /** Whether a row exists. */
  has(target: Target, entry: string): Promise<boolean>;
  /** All rows of a Target in their order, page by page. Eventually consistent. */
  page(target: Target, limit: number, cursor?: string): Promise<Page<Waiting>>;
  /** Deletes rows by their keys. */
  remove(target: Target, entries: readonly string[]): Promise<void>;
  /** The number of waiting rows, counted up to `limit`. Eventually consistent. */
  count(target: Target, limit: number): Promise<number>;
}
