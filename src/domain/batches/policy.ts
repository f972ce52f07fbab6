/**
 * When a batch is due, and which waiting tasks it gets. A pure function of the waiting rows, the policy and the time,
 * so every leader that reads the same rows decides the same. A batch is due at once if a maximum is reached. Otherwise
 * it is due at the end of `maxWait` or of the window, or earlier after a quiet period.
 */

import type { BatchPolicy } from '../config/policies.ts';
import type { Candidate, Millis } from '../ids.ts';
import { candidateOf } from '../ids.ts';
import type { Age } from '../tasks/age.ts';
import { ageOf } from '../tasks/age.ts';
import type { Task } from '../tasks/task.ts';
import { SOON } from '../timings.ts';

/** A task that waits for its batch, as stored in its waiting row. */
export interface Waiting {
  /** The row's sort key. Rows with a lower key go first. */
  readonly entry: string;
  readonly candidate: Candidate;
  /** Since when the task waits. */
  readonly at: Millis;
  /** Bytes that its item adds to the downstream call. */
  readonly bytes: number;
  readonly weight: number;
  /** Whether the task goes in a batch of its own, because the task may have made its earlier batch fail (H8). */
  readonly isAlone?: boolean;
  /** The task's `coalesceKey`. Of the rows with one key, the newest replaces the others. */
  readonly key?: string;
  /** The sender of a task whose key a rule limits to the sender's own tasks. */
  readonly sender?: string;
  /** Whether that rule is enforced: then only rows of one sender have the same key. */
  readonly ownKey?: true;
  /** Decides which row of a key is the newest. Absent in rows of release 0.2. */
  readonly age?: Age;
  /** The task fails as expired if no batch has claimed it by this time. */
  readonly startBy?: Millis;
}

/** The fields that a waiting row is made from. All are stored with the task, so that a repeat makes the same row. */
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
  | 'suspect'
  | 'sender'
  | 'ownKey'
>;

/** Since when a task waits in its current run. */
export const waitsSince = ({ createdAt, redrivenAt }: Pick<WaitingTask, 'createdAt' | 'redrivenAt'>): Millis =>
  redrivenAt ?? createdAt;

/**
 * The waiting row of a task. Its key begins with the time since when the task waits, in 13 digits of milliseconds
 * (enough until the year 2286). A priority moves that time back by `ahead`: an urgent task goes first, but only before
 * tasks that came up to `ahead` earlier, so no task starves.
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
    ...(task.suspect ? { isAlone: true } : {}),
    ...(task.coalesceKey === undefined ? {} : { key: task.coalesceKey, age: ageOf(waiting), ...keyOwnerOf(task) }),
    ...(task.startBy === undefined ? {} : { startBy: task.startBy }),
  };
};

const keyOwnerOf = ({
  sender,
  ownKey,
}: Pick<WaitingTask, 'sender' | 'ownKey'>): Pick<Waiting, 'sender' | 'ownKey'> => ({
  ...(sender === undefined ? {} : { sender }),
  ...(ownKey === undefined ? {} : { ownKey }),
});

/** Why a batch was sealed. */
export type SealReason = 'full' | 'bytes' | 'weight' | 'waited' | 'quiet' | 'bypass' | 'flush';

/** Seal these rows now, or check again at `until`. */
export type Due =
  | { readonly do: 'seal'; readonly because: SealReason; readonly rows: readonly Waiting[] }
  | { readonly do: 'wait'; readonly until: Millis };

/** The weight of a call with these tasks. */
export const weightOf = (rows: readonly Pick<Waiting, 'weight'>[]): number =>
  rows.reduce((sum, { weight }) => sum + weight, 0);

/** When the first of these tasks expires. Infinity if none does. */
export const firstExpiry = (rows: readonly Pick<Waiting, 'startBy'>[]): Millis =>
  Math.min(...rows.map(({ startBy }) => startBy ?? Number.POSITIVE_INFINITY));

/**
 * Decides whether a batch of one Target is due.
 *
 * @param rows the Target's waiting rows in the order of their keys, at least one.
 * @param flushedAt rows that waited at this time are due at once, even if the policy lets them wait longer.
 */
export const due = (rows: readonly Waiting[], policy: BatchPolicy, now: Millis, flushedAt = 0): Due => {
  const alone = rows.find(({ bytes, isAlone }) => isAlone || skipsWindow(bytes, policy));
  if (alone) return { do: 'seal', because: 'bypass', rows: [alone] };
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
  // The leader must wake when the first task expires, to settle it.
  const [expiry] = bounds(rows.flatMap(({ startBy }) => startBy ?? []));
  return { do: 'wait', until: Math.min(end, expiry, nextLook(policy, mayBeQuiet, quietAt, now - oldest, now)) };
};

/** Whether a task of this size goes alone and at once. */
const skipsWindow = (bytes: number, { bypass }: Pick<BatchPolicy, 'bypass'>): boolean =>
  bypass !== null && bytes >= bypass;

/**
 * The latest time at which the batch of a waiting task is due. Windows begin and end at the same times for all Targets.
 */
export const waitEnd = (at: Millis, { maxWait, window }: Pick<BatchPolicy, 'maxWait' | 'window'>): Millis =>
  window === null ? at + maxWait : (Math.floor(at / window) + 1) * window;

/**
 * When the leader checks a Target with a `quietPeriod` again. No message reports the task that brings the number of
 * rows to `minSize`. Until then the leader checks again after a quarter of the time waited so far, so it notices that
 * task late by at most that long.
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

/**
 * How many rows the batch gets, and which maximum these rows reach, if they reach one. A single row above a maximum
 * gets a batch of its own, because otherwise no batch could ever contain it.
 */
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

/** The tasks of one Target that a register invocation has just stored. */
export interface Arrivals {
  readonly tasks: number;
  readonly bytes: number;
  readonly weight: number;
  /** Bytes of the largest of these tasks. */
  readonly largest: number;
  /** When the first of these tasks expires. Infinity if none expires. */
  readonly startBy: Millis;
}

/**
 * The probability with which the register function counts a Target's waiting rows after new tasks arrived (R4). It
 * gives about eight counts per full batch, regardless of which maximum fills the batch (number, bytes or weight) and of
 * how the tasks are spread over invocations. The probability is 1 for small batches, and for a task that skips the
 * window.
 */
export const chanceToLook = (arrivals: Arrivals, policy: BatchPolicy): number => {
  const byNumber = 1 - (1 - Math.min(1, 8 / policy.maxSize)) ** arrivals.tasks;
  const byBytes = (8 * arrivals.bytes) / policy.maxBytes;
  const byWeight = policy.maxWeight === 0 ? 0 : (8 * arrivals.weight) / policy.maxWeight;
  return skipsWindow(arrivals.largest, policy) ? 1 : Math.min(1, Math.max(byNumber, byBytes, byWeight));
};
