/** Inputs that merged jobs have done. */

import type { Millis, Target } from '../domain/ids.ts';
import type { InputKey } from '../domain/merging/inputs.ts';
import type { Known } from '../domain/merging/merge.ts';

/** An input that a job has done: its key, and what tells for which of its texts (`src/domain/merging/merge.ts`). */
export interface ProcessedKey extends Known {
  readonly key: InputKey;
}

/** Which inputs of a Target have been done, for as long as its operation's tasks are kept. */
export interface ProcessedKeys {
  /** What is known of those that are stored and not over at `now`, by key. */
  known(target: Target, keys: readonly InputKey[], now: Millis): Promise<ReadonlyMap<InputKey, Known>>;
  /** Stores them in the place of what was known of their keys for `keep` from `at` on. */
  remember(target: Target, processed: readonly ProcessedKey[], at: Millis, keep: Millis): Promise<void>;
}
