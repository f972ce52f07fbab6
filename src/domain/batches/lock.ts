/**
 * A Target's lock names the leader that groups its waiting tasks. It only keeps batches full. A claim decides which
 * batch has a task, so a lease that ends by the wall clock is enough.
 *
 * - *free*: no holder. Any function may acquire it for the next fence (L3, G8, G9). A guard may skip its fence (G8).
 * - *held*: a holder whose lease has not ended. Only the function with that fence and token may open a batch (G5),
 *   release (G3), block (G5b) or hand over to the next fence (G4).
 * - *expired*: a holder whose lease has ended. The holder may still do the same, until another function acquires the
 *   lock for the next fence.
 * - *blocked*: free, and the Target waits for a free slot. Only a function that receives a wake, a resume or the
 *   Target's own guard acquires the lock again (E1, G9a).
 *
 * Three things are independent of these states. `openBatch` is a batch that its leader began, and that any function may
 * finish (F1 to F6). `paused` stops new batches (O1). `flushedAt` makes the rows due that waited at that time.
 *
 * Invariants: `fence` and `round` only grow. The holder of a fence has a guard for it in flight. `openBatch` is removed
 * only after that batch is sealed.
 */
import type { Concurrency } from '../config/policies.ts';
import type { BatchId, Millis, Token } from '../ids.ts';
import type { Pause, WaitingTarget } from '../operations/slots.ts';
import { MINUTE } from '../timings.ts';
import type { GroupMessage } from './messages.ts';

/** The lock row, as read. */
export interface Lock {
  /** Grows by one with each leader. 0 before the first one. */
  readonly fence: number;
  /** Count of batches opened so far. The next batch id contains `round` + 1. */
  readonly round: number;
  readonly holder?: Token;
  readonly lockedUntil: Millis;
  readonly openBatch?: BatchId;
  /**
   * The invocation that opened the batch. It is stored because two invocations can lead with one fence, and both would
   * give their next batch the same id.
   */
  readonly openedBy?: Token;
  /** Set by a flush: rows that already waited at this time are due at once. */
  readonly flushedAt?: Millis;
  /** Batches that hold a slot of the Target, if `concurrency.perTarget` is set and fits one page of slots. */
  readonly inFlight?: readonly BatchId[];
  /** When the last batch was opened that `inFlight` does not contain, because the Target had no cap then. */
  readonly uncountedAt?: Millis;
  /**
   * The largest cap for which the Target has had slots on pages. A Target with this value uses pages under any cap.
   * Absent if its lock always sufficed.
   */
  readonly largestCap?: number;
  /** Set while the Target waits for a free slot of its operation: since when its oldest task waits. */
  readonly blocked?: Millis;
  /** When a call for the Target last failed without an answer for its tasks. Absent if a later call succeeded. */
  readonly failedAt?: Millis;
  /**
   * When a call for the Target last succeeded, as far as this was noted: while calls of its operation fail. 0 if earlier
   * calls succeeded. Absent if no call is known to have succeeded.
   */
  readonly workedAt?: Millis;
  readonly paused?: Pause;
}

/** What the lock of a Target shows about its calls, for its row in the slot queue. */
export const historyOf = (
  { round, failedAt, workedAt }: Lock,
  batches = round,
): Pick<WaitingTarget, 'failedAt' | 'workedAt' | 'batches'> => ({
  ...(batches > 0 ? { batches } : {}),
  ...(failedAt === undefined ? {} : { failedAt }),
  ...(workedAt === undefined ? {} : { workedAt }),
});

/** The lock of a Target that has had no leader. */
export const NO_LOCK: Lock = { fence: 0, round: 0, lockedUntil: 0 };

/** Whether a leader's lease covers `now`. */
export const isHeld = (lock: Lock, now: Millis): boolean => lock.holder !== undefined && lock.lockedUntil >= now;

/**
 * Whether no batch may begin even if tasks wait: the Target is paused, or its batches in flight have reached
 * `perTarget`. The lock does not show whether a cap above `pageSize` is reached (src/steps/slots/target-slots.ts).
 */
export const isClosed = (
  { openBatch, inFlight = [], uncountedAt, paused }: Lock,
  { perTarget }: Concurrency,
  pageSize: number,
): boolean => {
  // If there are uncounted batches, the leader must count them first: the leader may find that some batches in flight
  // are finished.
  const isFull =
    perTarget !== null && perTarget <= pageSize && uncountedAt === undefined && inFlight.length >= perTarget;
  return openBatch === undefined && (paused !== undefined || isFull);
};

/** If a row that must stay expires sooner than this, its expiry is moved. The sweep may be down for this long. */
const SPARE_TIME: Millis = 50 * 24 * 60 * MINUTE;

/** Whether a row with this expiry is deleted soon unless its expiry is moved. */
export const expiresSoon = (expiresAt: Millis | undefined, now: Millis): boolean =>
  expiresAt !== undefined && expiresAt < now + SPARE_TIME;

/** Whether the row holds something that must not expire: a pause, a wait for a free slot, or batches in flight. */
export const mustStay = ({ paused, inFlight, blocked }: Lock): boolean => (paused ?? inFlight ?? blocked) !== undefined;

/** The status of a group message, compared with its Target's lock (rules G1 to G9). */
export type GuardStatus =
  /** G1: the leader with the message's fence holds the lock, and a batch is open. */
  | { readonly is: 'leader-with-open-batch'; readonly batch: BatchId }
  /** G2 to G5: the leader with the message's fence holds the lock. */
  | { readonly is: 'leader' }
  /** G6: a leader with a later fence has acquired the lock, or another function has taken the message's fence. */
  | { readonly is: 'superseded' }
  /** G7: the leader with the fence before still holds the lock. */
  | { readonly is: 'early' }
  /** G8: the message's fence is the next one, and the lock can be acquired. */
  | { readonly is: 'next' }
  /** G9: the leader with the message's fence has released the lock. */
  | { readonly is: 'released' }
  /** The message's fence is so far ahead that no leader can have sent the message. */
  | { readonly is: 'foreign' };

/**
 * How far the fence of a message may be ahead of a lock row that was restored from a backup: years of batches. The
 * limit protects the row: one foreign message could otherwise put the fence beyond 2^53, where adding 1 does not change
 * the number.
 */
const FENCES_AHEAD_MAX = 1_000_000_000;

/**
 * The status of a group message. After a restore, fences between the lock and the message may be missing. The message
 * then counts as the next one.
 */
export const guardStatusOf = (lock: Lock, message: GroupMessage, now: Millis): GuardStatus => {
  const { fence, token } = message;
  if (lock.fence === fence && lock.holder === token)
    return lock.openBatch ? { is: 'leader-with-open-batch', batch: lock.openBatch } : { is: 'leader' };
  // This applies to a hint too: its task may have been registered just before the release, while the guard is still
  // delayed.
  if (lock.fence === fence && lock.holder === undefined) return { is: 'released' };
  if (message.hint || lock.fence >= fence) return { is: 'superseded' };
  if (fence > lock.fence + FENCES_AHEAD_MAX) return { is: 'foreign' };
  return isHeld(lock, now) ? { is: 'early' } : { is: 'next' };
};
