/** The store of inputs that merged jobs have done. */

import type { Millis, Target } from '../domain/ids.ts';
import type { InputKey } from '../domain/merging/inputs.ts';
import type { Known } from '../domain/merging/merge.ts';

/** An input that a job has done: its key, and which texts count as done (`src/domain/merging/merge.ts`). */
export interface ProcessedKey extends Known {
  readonly key: InputKey;
}

/** The store of inputs that are done, by Target. A row is stored for as long as the operation's tasks. */
export interface ProcessedKeys {
  /** The stored rows for these keys that have not expired at `now`. */
  known(target: Target, keys: readonly InputKey[], now: Millis): Promise<ReadonlyMap<InputKey, Known>>;
  /** Stores rows for `keep` from `at` on, replacing earlier ones of their keys. */
  remember(target: Target, processed: readonly ProcessedKey[], at: Millis, keep: Millis): Promise<void>;
}
