/**
 * When is a batch due, and which waiting tasks go into it? Pure function of the waiting rows, the policy and the time.
 */

import type { BatchPolicy } from '../config/policies.ts';
import type { Candidate, Millis } from '../ids.ts';
import { candidateOf } from '../ids.ts';
import type { Age } from '../tasks/age.ts';
import { ageOf } from '../tasks/age.ts';
import type { Task } from '../tasks/task.ts';
import { SOON } from '../timings.ts';

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
  /** The task's `coalesceKey`: of the rows with one key the newest replaces the others. */
  readonly key?: string;
  /** Which of those is the newest. Rows that release 0.2 wrote have none. */
  readonly age?: Age;
  /** If no batch has it by then, its task fails. */
  readonly startBy?: Millis;
}

/** What a task's waiting row is made of: stored fields only, so that making it again gives the same row. */
export type WaitingTask = Pick<
  Task,
  | 'id'
  | 'run'
  | 'createdAt'
  | 'redrivenAt'
  | 'bytes'
  | 'ahead'
  | 'weight'
  | 'coalesceKey'
  | 'version'
  | 'sentAt'
  | 'startBy'
>;

/** Since when a task waits in its run. */
export const waitsSince = ({ createdAt, redrivenAt }: Pick<WaitingTask, 'createdAt' | 'redrivenAt'>): Millis =>
  redrivenAt ?? createdAt;

/**
 * The waiting row of a task. Entries sort by turn: 13 digits of milliseconds last until the year 2286. An urgent one has
 * its turn as if it had come earlier, so that it goes first and none starves.
 */
export const waitingRow = (waiting: WaitingTask): Waiting => {
  const { id, run, bytes, ahead = 0, weight = 1, ...task } = waiting;
  const candidate = candidateOf(id, run);
  const since = waitsSince(task);
  return {
    entry: `${String(Math.max(0, since - ahead)).padStart(13, '0')}#${candidate}`,
    candidate,
    at: since,
    bytes,
    weight,
    ...(task.coalesceKey === undefined ? {} : { key: task.coalesceKey, age: ageOf(waiting) }),
    ...(task.startBy === undefined ? {} : { startBy: task.startBy }),
  };
};

/** Why a batch was sealed. */
export type SealReason = 'full' | 'bytes' | 'weight' | 'waited' | 'quiet' | 'bypass' | 'flush';

/** Seal these rows now, or look again at `until`. */
export type Due =
  | { readonly do: 'seal'; readonly because: SealReason; readonly rows: readonly Waiting[] }
  | { readonly do: 'wait'; readonly until: Millis };

/**
 * Decides over the rows of one Target in the order of their turns (at least one of them).
 *
 * @param flushedAt rows that waited at this moment are due at once, whatever the policy says.
 */
export const due = (rows: readonly Waiting[], policy: BatchPolicy, now: Millis, flushedAt = 0): Due => {
  const large = rows.find(({ bytes }) => skipsWindow(bytes, policy));
  if (large) return { do: 'seal', because: 'bypass', rows: [large] };
  const { take, because } = fill(rows, policy);
  const seal = (reason: SealReason): Due => ({ do: 'seal', because: reason, rows: rows.slice(0, take) });
  if (because) return seal(because);
  const [oldest, newest] = bounds(rows.map(({ at }) => at));
  if (oldest <= flushedAt) return seal('flush');
  const end = waitEnd(oldest, policy);
  if (end <= now) return seal('waited');
  const quietAt = newest + policy.quietPeriod;
  const mayBeQuiet = policy.quietPeriod > 0 && rows.length >= policy.minSize;
  if (mayBeQuiet && quietAt <= now) return seal('quiet');
  // Whoever expires first has to be seen to by then.
  const [expiry] = bounds(rows.flatMap(({ startBy }) => startBy ?? []));
  return { do: 'wait', until: Math.min(end, expiry, nextLook(policy, mayBeQuiet, quietAt, now - oldest, now)) };
};

/** Whether a task of so many bytes goes alone, at once. */
const skipsWindow = (bytes: number, { bypass }: Pick<BatchPolicy, 'bypass'>): boolean =>
  bypass !== null && bytes >= bypass;

/** Until when a task waits at the most: windows begin and end at the same moments for everybody. */
export const waitEnd = (at: Millis, { maxWait, window }: Pick<BatchPolicy, 'maxWait' | 'window'>): Millis =>
  window === null ? at + maxWait : (Math.floor(at / window) + 1) * window;

/**
 * When a quiet Target is looked at again. Nobody tells of the task that makes it `minSize`: so it is looked at now and then,
 * each time after a quarter of what it has waited. What is noticed late is late by no more than that.
 */
const nextLook = (
  { quietPeriod }: BatchPolicy,
  mayBeQuiet: boolean,
  quietAt: Millis,
  waited: Millis,
  now: Millis,
): Millis => {
  if (quietPeriod === 0) return Number.POSITIVE_INFINITY;
  return mayBeQuiet ? quietAt : Math.max(quietAt, now + Math.max(SOON, Math.ceil(waited / QUIET_LOOKS)));
};

const QUIET_LOOKS = 4;

const bounds = (moments: readonly Millis[]): readonly [least: Millis, most: Millis] =>
  moments.reduce<[Millis, Millis]>(
    ([least, most], at) => [Math.min(least, at), Math.max(most, at)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );

/** How many rows one batch holds, and whether that fills it. A row larger or heavier than a batch goes alone: it must go. */
const fill = (
  rows: readonly Waiting[],
  policy: BatchPolicy,
): { readonly take: number; readonly because?: 'full' | 'bytes' | 'weight' } => {
  const maxWeight = policy.maxWeight === 0 ? Number.POSITIVE_INFINITY : policy.maxWeight;
  let [bytes, weight, take] = [0, 0, 0];
  for (const row of rows) {
    bytes += row.bytes;
    weight += row.weight;
    if (take > 0 && bytes > policy.maxBytes) return { take, because: 'bytes' };
    if (take > 0 && weight > maxWeight) return { take, because: 'weight' };
    take += 1;
    if (take === policy.maxSize) return { take, because: 'full' };
  }
  if (bytes >= policy.maxBytes) return { take, because: 'bytes' };
  return weight >= maxWeight ? { take, because: 'weight' } : { take };
};

/** What came for one Target at once. */
export interface Arrivals {
  readonly tasks: number;
  readonly bytes: number;
  readonly weight: number;
  /** Bytes of the largest. */
  readonly largest: number;
  /** When the first of them expires; infinite if none does. */
  readonly startBy: Millis;
}

/**
 * How probably a Target's waiting rows are looked at because more came (rule R4): about eight looks per full batch, be it
 * full by number, by bytes or by weight, however the arrivals are spread over register invocations. 1 is for certain: where
 * batches are so small, and for a task that does not wait.
 */
export const chanceToLook = (arrivals: Arrivals, policy: BatchPolicy): number => {
  const byNumber = 1 - (1 - Math.min(1, 8 / policy.maxSize)) ** arrivals.tasks;
  const byBytes = (8 * arrivals.bytes) / policy.maxBytes;
  const byWeight = policy.maxWeight === 0 ? 0 : (8 * arrivals.weight) / policy.maxWeight;
  return skipsWindow(arrivals.largest, policy) ? 1 : Math.min(1, Math.max(byNumber, byBytes, byWeight));
};
