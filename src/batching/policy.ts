/**
 * When is a batch due, and which waiting tasks go into it? Pure function of the waiting rows, the policy and the time.
 */
import { type Candidate, candidateOf, type Millis } from './ids.ts';
import type { Task } from './task.ts';

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

/** A task that waits for its batch, as its Target's queue in the table shows it. */
export interface Waiting {
  /** The row's own key, which sorts by when its turn is. */
  readonly entry: string;
  readonly candidate: Candidate;
  /** Since when it waits. */
  readonly at: Millis;
  /** Bytes that its item adds to the downstream call. */
  readonly bytes: number;
  readonly weight: number;
  /** A newer row with the same key replaces it. */
  readonly key?: string;
  /** If no batch has it by then, its task fails. */
  readonly startBy?: Millis;
}

/** What a task's waiting row is made of: stored fields only, so that making it again gives the same row. */
export type WaitingTask = Pick<
  Task,
  'id' | 'run' | 'createdAt' | 'redrivenAt' | 'bytes' | 'ahead' | 'weight' | 'coalesceKey' | 'startBy'
>;

/** Since when a task waits in its run. */
export const waitsSince = ({ createdAt, redrivenAt }: Pick<WaitingTask, 'createdAt' | 'redrivenAt'>): Millis =>
  redrivenAt ?? createdAt;

/**
 * The waiting row of a task. Entries sort by turn: 13 digits of milliseconds last until the year 2286. An urgent one has
 * its turn as if it had come earlier, so that it goes first and none starves.
 */
export const waitingRow = ({ id, run, bytes, ahead = 0, weight = 1, ...task }: WaitingTask): Waiting => {
  const candidate = candidateOf(id, run);
  const since = waitsSince(task);
  return {
    entry: `${String(Math.max(0, since - ahead)).padStart(13, '0')}#${candidate}`,
    candidate,
    at: since,
    bytes,
    weight,
    ...(task.coalesceKey === undefined ? {} : { key: task.coalesceKey }),
    ...(task.startBy === undefined ? {} : { startBy: task.startBy }),
  };
};

/** Why a batch was sealed. */
export type SealReason = 'full' | 'bytes' | 'waited' | 'flush';

/** Seal the first `take` rows now, or look again at `until`. */
export type Due =
  | { readonly do: 'seal'; readonly because: SealReason; readonly take: number }
  | { readonly do: 'wait'; readonly until: Millis };

/**
 * Decides over the rows of one Target, oldest turn first (at least one of them).
 *
 * @param flushedAt rows that waited at this moment are due at once, whatever the policy says.
 */
export const due = (rows: readonly Waiting[], policy: BatchPolicy, now: Millis, flushedAt = 0): Due => {
  const { take, because } = fill(rows, policy);
  if (because) return { do: 'seal', because, take };
  const oldest = rows.reduce((least, row) => Math.min(least, row.at), Number.POSITIVE_INFINITY);
  if (oldest <= flushedAt) return { do: 'seal', because: 'flush', take };
  const until = oldest + policy.maxWait;
  return until <= now ? { do: 'seal', because: 'waited', take } : { do: 'wait', until };
};

/** How many rows one batch holds, and whether that fills it. A row larger than `maxBytes` goes alone: it must go. */
const fill = (rows: readonly Waiting[], policy: BatchPolicy): { take: number; because?: 'full' | 'bytes' } => {
  let bytes = 0;
  let take = 0;
  for (const row of rows) {
    bytes += row.bytes;
    if (take > 0 && bytes > policy.maxBytes) return { take, because: 'bytes' };
    take += 1;
    if (take === policy.maxSize) return { take, because: 'full' };
  }
  return bytes >= policy.maxBytes ? { take, because: 'bytes' } : { take };
};

/** What came for one Target at once. */
export interface Arrivals {
  readonly tasks: number;
  readonly bytes: number;
}

/**
 * Whether to look at a Target's waiting rows because more came (rule R4): about eight looks per full batch, be it full
 * by number or by bytes, however the arrivals are spread over register invocations.
 *
 * @param random uniform in [0, 1).
 */
export const looksForFullness = ({ tasks, bytes }: Arrivals, policy: BatchPolicy, random: number): boolean => {
  const byNumber = 1 - (1 - Math.min(1, 8 / policy.maxSize)) ** tasks;
  const byBytes = (8 * bytes) / policy.maxBytes;
  return random < Math.max(byNumber, byBytes);
};
