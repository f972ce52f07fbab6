/**
 * A Target's lock: who groups its waiting tasks. It only keeps batches full; that a task is in one batch never depends
 * on it (claims do that), so expiry by the wall clock is enough.
 *
 * States: *free* (no holder), *held* (a holder whose lease has not ended), *expired* (a holder whose lease has).
 * `openBatch` may be set in any of them: a batch that its leader began and that anyone may finish.
 * Invariants: `fence` only grows; the holder of fence f has a guard message for f in flight; `openBatch` is cleared
 * only once that batch is stored; `round` grows with every batch that a fence opens.
 */
import type { Concurrency } from '../config/policies.ts';
import type { BatchId, Millis, Token } from '../ids.ts';
import type { Pause } from '../operations/slots.ts';
import { MINUTE } from '../timings.ts';
import type { GroupMessage } from './messages.ts';

/** The lock row, as read. */
export interface Lock {
  /** Grows by one with every leader. 0 when there was none yet. */
  readonly fence: number;
  /** Batches opened so far; names the next one. */
  readonly round: number;
  readonly holder?: Token;
  readonly lockedUntil: Millis;
  readonly openBatch?: BatchId;
  /** Which turn of a leader opened it: all that lead for one fence name their next batch alike. */
  readonly openedBy?: Token;
  /** Rows that waited at this moment were asked to be sealed at once. */
  readonly flushedAt?: Millis;
  /** Batches that are under way, where `concurrency.perTarget` is set and fits one page of slots. */
  readonly inFlight?: readonly BatchId[];
  /** When the last batch was opened that is not among those: there was no cap. */
  readonly uncountedAt?: Millis;
  /** The largest cap for which it has had slots on pages. From then on it keeps to pages under any cap; none where its lock was always enough. */
  readonly largestCap?: number;
  /** Since when its oldest task waits: its operation had no room for another batch. */
  readonly blocked?: Millis;
  readonly paused?: Pause;
}

/** The lock of a Target that nobody has led. */
export const NO_LOCK: Lock = { fence: 0, round: 0, lockedUntil: 0 };

/** Whether a leader's lease covers `now`. */
export const isHeld = (lock: Lock, now: Millis): boolean => lock.holder !== undefined && lock.lockedUntil >= now;

/**
 * Whether no batch may begin, whatever waits: as many as may be are under way, or the Target is paused. A cap beyond `pageSize`
 * does not show in the lock (src/steps/slots/target-slots.ts).
 */
export const isClosed = (
  { openBatch, inFlight = [], uncountedAt, paused }: Lock,
  { perTarget }: Concurrency,
  pageSize: number,
): boolean => {
  // A leader counts first what is not counted: it may find that some of these are over.
  const isFull =
    perTarget !== null && perTarget <= pageSize && uncountedAt === undefined && inFlight.length >= perTarget;
  return openBatch === undefined && (paused !== undefined || isFull);
};

/** A row that must stay gets more time when it has less left than this: the sweep may stand still for as long. */
const SPARE_TIME: Millis = 50 * 24 * 60 * MINUTE;

/** Whether a row with this expiry is deleted soon, unless it gets more time. */
export const expiresSoon = (expiresAt: Millis | undefined, now: Millis): boolean =>
  expiresAt !== undefined && expiresAt < now + SPARE_TIME;

/** Whether the row holds what must not expire: a pause, a wait for a free slot, or batches in flight. */
export const mustStay = ({ paused, inFlight, blocked }: Lock): boolean => (paused ?? inFlight ?? blocked) !== undefined;

/** What a group message finds when it reads its Target's lock (rules G1 to G9). */
export type GuardStatus =
  /** G1: it leads, and a batch is open. */
  | { readonly is: 'leader-with-open-batch'; readonly batch: BatchId }
  /** G2 to G5: it leads. */
  | { readonly is: 'leader' }
  /** G6: its time is over, or another took this fence. */
  | { readonly is: 'superseded' }
  /** G7: the leader before it still holds the lock. */
  | { readonly is: 'early' }
  /** G8: its fence is next and the lock is there to take. */
  | { readonly is: 'next' }
  /** G9: it led, and gave the lock back. */
  | { readonly is: 'released' }
  /** Nobody can have led for its fence. */
  | { readonly is: 'foreign' };

/**
 * How far a message may be ahead of a lock row that was restored from a backup: years of batches. Without an end, one
 * message that none of the λs wrote could put a fence beyond 2^53, where the next one cannot be told from it.
 */
const FENCES_AHEAD_MAX = 1_000_000_000;

/** Where a group message stands towards the lock. Fences may be skipped (a restored table): then it is simply next. */
export const guardStatusOf = (lock: Lock, message: GroupMessage, now: Millis): GuardStatus => {
  const { fence, token } = message;
  if (lock.fence === fence && lock.holder === token)
    return lock.openBatch ? { is: 'leader-with-open-batch', batch: lock.openBatch } : { is: 'leader' };
  // For a hint too: what it was sent for may have come just before the lock was given back, and the guard sleeps.
  if (lock.fence === fence && lock.holder === undefined) return { is: 'released' };
  if (message.hint || lock.fence >= fence) return { is: 'superseded' };
  if (fence > lock.fence + FENCES_AHEAD_MAX) return { is: 'foreign' };
  return isHeld(lock, now) ? { is: 'early' } : { is: 'next' };
};
