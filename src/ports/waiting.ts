/** The tasks of a Target that wait for a batch. */

import type { Waiting, WaitingTask } from '../domain/batches/policy.ts';
import type { Target } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

export interface WaitingTasks {
  /** R2. Puts a waiting row for each task. Again is harmless: the row derives from the stored task. */
  put(tasks: readonly (WaitingTask & { readonly target: Target })[]): Promise<void>;
  /** The first rows of a Target by turn, at most `limit`. */
  first(target: Target, limit: number): Promise<readonly Waiting[]>;
  /** Whether a row is there. */
  has(target: Target, entry: string): Promise<boolean>;
  /** All rows of a Target by turn, page by page. Eventually consistent. */
  page(target: Target, limit: number, cursor?: string): Promise<Page<Waiting>>;
  /** Deletes rows by their entries. */
  remove(target: Target, entries: readonly string[]): Promise<void>;
  /** How many rows wait, counted up to `limit`. Eventually consistent. */
  count(target: Target, limit: number): Promise<number>;
}
