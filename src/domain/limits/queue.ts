/**
 * The queue of a bucket: Targets whose next batch is due, and sealed batches, that wait for a moment under the bucket's
 * limit. Pure.
 *
 * - Waiting Targets and batches put a row of their own, so 500 of them never compete for one write. The granter reads the next rows,
 *   grants moments to all of them in one write of the bucket, and then sends each its message. Granted rows are not
 *   deleted: the bucket remembers the last one, and time to live deletes them for free.
 * - A row must never appear before the last granted one. So rows are put into *segments*: a function that read segment
 *   `n` puts its row into `n + 1`, and the granter that read `n` grants rows up to segment `n`. The granter's write makes
 *   it `n + 1`. If a function reads `n + 1` or more after its put, the granter may have overlooked the row, and the
 *   function puts another one. No clock is involved.
 * - A row is void if its Target or batch has moved on since (another leader, another round, another attempt). So a second
 *   row of the same wait does no harm.
 */
import type { BatchId, Millis, OperationName, Target, Token } from '../ids.ts';
import { MINUTE, SECOND } from '../timings.ts';
import { type Allowance, type Bucket, hasLeases, type Passed } from './bucket.ts';
import { gapOf } from './line.ts';

/** `again`: batches that called before, which go first. `fresh`: batches that are not sealed yet. */
export type Class = keyof Passed;

/** A Target or batch that waits. */
export interface WaitingCall {
  readonly entry: string;
  readonly operation: OperationName;
  readonly target: Target;
  /** Since when the oldest task waits. */
  readonly since: Millis;
  /**
   * For a Target: the leader that waits, and the lock's round. Undefined for a batch. `turn` is the number of
   * messages that the granter has sent it for this call, 0 by default: a moment may lapse, or it needs another limit too.
   */
  readonly leader?: { readonly token: Token; readonly round: number; readonly turn?: number };
  /** For a batch: its id, the number of its last attempt, and `turn` as for a Target. */
  readonly batch?: { readonly id: BatchId; readonly attempt: number; readonly turn?: number };
  /** The weight for which a Target with `leader` asks. The granter may grant more if more tasks wait by then. */
  readonly weight: number;
}

/**
 * The rows without further ones of the same Target or batch: its message may have been lost, so it puts another row after
 * a while.
 */
export const withoutRepeats = (rows: readonly WaitingCall[]): readonly WaitingCall[] => {
  const seen = new Set<string>();
  return rows.filter(({ target, batch }) => {
    const key = batch?.id ?? target;
    return !seen.has(key) && seen.add(key);
  });
};

const LETTER: Record<Class, string> = { again: 'a', fresh: 'f' };

const padded = (number: number, digits: number): string => String(Math.max(0, number)).padStart(digits, '0');

/** Rows of a segment are in the order of their oldest tasks. */
export const entryOf = (of: Class, segment: number, since: Millis, token: Token): string =>
  `${LETTER[of]}#${padded(segment, 10)}#${padded(since, 13)}#${token}`;

export const classOf = ({ entry }: Pick<WaitingCall, 'entry'>): Class =>
  entry.startsWith(LETTER.again) ? 'again' : 'fresh';

/** Entries after one of them, up to another one. */
interface Range {
  readonly after: string;
  readonly upTo: string;
}

const endOf = (of: Class, passed: Passed): string => passed[of] || `${LETTER[of]}#`;

/** The entries of a class that may be granted. */
export const grantable = (of: Class, { passed, segment }: Bucket): Range => ({
  after: endOf(of, passed),
  upTo: `${LETTER[of]}#${padded(segment, 10)}~`,
});

/** All entries of a class that were not granted. */
export const ungranted = (of: Class, { passed }: Pick<Bucket, 'passed'>): Range => ({
  after: endOf(of, passed),
  upTo: `${LETTER[of]}~`,
});

/** The entries of a class that were passed since then. */
export const passedAfter = (of: Class, before: Passed, now: Passed): Range => ({
  after: endOf(of, before),
  upTo: endOf(of, now),
});

/** A function gets its moment this long before it, in ms, so that its batch is sealed and its message received in time. */
export const LEAD: Millis = 2.5 * SECOND;
/** One write of the granter covers this many calls, but at least the first of these times, and at most the second. */
const [CALLS_AHEAD, LEAST_AHEAD, MOST_AHEAD]: readonly [number, Millis, Millis] = [7, 1.5 * SECOND, MINUTE];

/**
 * How far ahead of now the granter grants moments, in ms. A call in progress counts from its grant on, so calls that are
 * limited by concurrency too get their moment late. So do calls that are limited by weight: if an earlier call used less
 * than was granted, they may start earlier.
 */
export const horizonOf = (allows: Allowance): Millis => {
  if (hasLeases(allows)) return SECOND;
  const wanted = allows.weight === null ? CALLS_AHEAD * gapOf(allows) : 0;
  return LEAD + Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, wanted));
};

/** If the granter is late by this much, its message counts as lost. */
const LOST: Millis = 10 * SECOND;

/** Whether a chain of messages grants moments to waiting calls. */
export const isGranting = ({ granter }: Pick<Bucket, 'granter'>, now: Millis): boolean =>
  granter !== undefined && now <= granter.at + LOST;
