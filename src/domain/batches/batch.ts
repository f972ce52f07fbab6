/**
 * A batch: the tasks that go downstream in one call.
 *
 * - *forming*: the candidates are stored. Any function claims them and seals the batch (F2, F3). No attempt may start
 *   (H1).
 * - *sealed*: the members are fixed. An attempt may start (H2).
 * - *in-progress*, `runUntil` in the future: an attempt runs, or the next attempt is not due yet. Only the attempt with
 *   the stored number may postpone or finish the batch (H5, H6). Reports of jobs write results (J1).
 * - *in-progress*, `runUntil` in the past: the next attempt may start, even if the attempt before it has crashed.
 * - *succeeded*, *partly-failed*, *failed*: nothing changes any more. A function that receives the batch message only
 *   frees the batch's slots (H7).
 *
 * Invariants: candidates never change. A task is a member only if its row contains this batch's id. `attempt` only
 * grows. A batch without members is *succeeded* when it is sealed.
 */
import type { Reason } from '../downstream/downstream.ts';
import type { BatchId, Candidate, Millis, OperationName, Target, TaskId, Token } from '../ids.ts';
import { parseCandidate } from '../ids.ts';
import type { Grant } from '../limits/bucket.ts';
import { type CallRecord, shortened } from './call-record.ts';
import type { SealReason } from './policy.ts';
import type { Suspicion } from './suspicion.ts';

export type BatchStatus = 'forming' | 'sealed' | 'in-progress' | FinishedStatus;
export type FinishedStatus = 'succeeded' | 'partly-failed' | 'failed';

/** How many members succeeded, and how many failed. */
export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * Members that the downstream has taken over (202) and not reported yet, and its deadline: after `until` the batch
 * handler calls again.
 */
export interface Pending {
  readonly ids: readonly TaskId[];
  readonly until: Millis;
}

/** The end of an attempt that another attempt follows: when it ended, and why members are still without a result. */
export interface LastAttempt extends Reason {
  readonly endedAt: Millis;
  /** Its number. Absent, as is `open`, in rows of release 0.2.0. */
  readonly attempt?: number;
  /** How many members were left without a result, including those that a job reports. */
  readonly open?: number;
  /** How many of them a job reports. Absent if none. */
  readonly pending?: number;
}

/**
 * Most characters of the downstream's answer that are stored with a batch. Each attempt writes the batch's row, so the
 * row must stay small.
 */
const QUOTE_MAX = 200;

/** The last attempt as the batch's row stores it: a long quote is shortened. */
export const lastAttempt = (
  { reason, quote }: Reason,
  end: Required<Pick<LastAttempt, 'attempt' | 'endedAt' | 'open' | 'pending'>>,
): LastAttempt => ({
  attempt: end.attempt,
  endedAt: end.endedAt,
  reason,
  ...(quote === undefined ? {} : { quote: shortened(quote, QUOTE_MAX) }),
  open: end.open,
  ...(end.pending > 0 ? { pending: end.pending } : {}),
});

/**
 * Names one of the messages that check a paused batch again and again, and the time span in which that message did so
 * (src/steps/call/hold.ts).
 */
export interface Held {
  readonly by: Token;
  readonly span: number;
}

/** The name of a message that checks a paused batch, as the message itself contains it. */
export interface SentHeld extends Held {
  /**
   * The message that the batch's row named when this message was sent. If the row still names that message, this
   * message is handled too, because it may be received before the row names it.
   */
  readonly after?: Token;
}

/** The name of a message that checks a paused batch, as the batch's row contains it. */
export interface Noted extends Held {
  /** Whether the message says that an attempt does not count. */
  readonly isUncounted: boolean;
}

export interface Batch {
  readonly id: BatchId;
  readonly target: Target;
  readonly operation: OperationName;
  readonly status: BatchStatus;
  readonly sealedBy: SealReason;
  /** The waiting tasks that the leader read, in the order of their waiting rows. */
  readonly candidates: readonly Candidate[];
  /** Candidates whose claim failed: another batch, or a newer run, had taken them. Set by the seal. */
  readonly dropped: readonly Candidate[];
  /** Number of the current attempt. Only the current attempt may postpone or finish the batch. */
  readonly attempt: number;
  /**
   * Attempts that count towards `maxAttempts`. An attempt does not count if an open circuit ended it, or if the
   * function ran out of time between its calls.
   */
  readonly countedAttempts: number;
  /** Attempts in a row, up to the last one, that did not count because their results could not be stored. @default 0 */
  readonly uncounted?: number;
  /** The function invocation that runs the current attempt. Absent between attempts. */
  readonly startedBy?: Token;
  /**
   * Until this time an attempt runs or the wait before the next attempt lasts. No other attempt may start before this
   * time.
   */
  readonly runUntil: Millis;
  /** Members without a result when the last attempt ended, except pending ones. Absent if all members are open. */
  readonly open?: readonly TaskId[];
  /** Members without a result that the downstream has taken over and reports later. */
  readonly pending?: Pending;
  /**
   * Most items of one call of the next attempt. Set if an earlier attempt ran out of time during halving, or found
   * larger calls too large.
   */
  readonly split?: number;
  /**
   * The sizes of the parts in which the next attempt calls the open members, in the order of `open`. Set while the tasks
   * at fault are being isolated.
   */
  readonly parts?: readonly number[];
  /** For each part: how many calls with its only member have failed. 0 for parts of several members. */
  readonly partFailures?: readonly number[];
  /**
   * For each member in `open`, then in `pending.ids`: how many counted attempts throttled this member alone, and so do
   * not count for it. Absent if there are none.
   */
  readonly spared?: readonly number[];
  /** Set if the last attempt failed: whether the batch or the downstream is at fault. */
  readonly suspicion?: Suspicion;
  /** The last attempt that another attempt follows. */
  readonly lastAttempt?: LastAttempt;
  /** Results of the members that are neither open nor pending. */
  readonly counts?: Counts;
  /** The last calls, oldest first. Absent before the first attempt has ended. */
  readonly calls?: readonly CallRecord[];
  /** The name of the last message that checked the batch during a pause. */
  readonly held?: Noted;
  /** The page of the operation's slots that holds the batch's slot. Absent for the first page. */
  readonly slotPage?: number;
  /**
   * The page of the Target's slots that holds the batch's slot; 0 is the lock. Absent if the Target had no cap, or the
   * page is unknown.
   */
  readonly targetPage?: number;
  /**
   * The moments of the first attempt under the operation's limits. Later, the moments of the last attempt, if the batch
   * had leases.
   */
  readonly grants?: readonly Grant[];
  /** When the oldest candidate began to wait. */
  readonly oldestAt: Millis;
  readonly createdAt: Millis;
  readonly sealedAt?: Millis;
  readonly startedAt?: Millis;
  readonly finishedAt?: Millis;
}

/** The members of a sealed batch, in the order of their waiting rows. */
export const membersOf = (batch: Pick<Batch, 'candidates' | 'dropped'>): TaskId[] => {
  const dropped = new Set(batch.dropped);
  return batch.candidates
    .filter((candidate) => !dropped.has(candidate))
    .map((candidate) => parseCandidate(candidate).id);
};

/** The members that may still be without a result, in the order of their waiting rows. */
export const unfinishedOf = (batch: Pick<Batch, 'candidates' | 'dropped' | 'open' | 'pending'>): TaskId[] => {
  const members = membersOf(batch);
  if (!batch.open && !batch.pending) return members;
  const unfinished = new Set([...(batch.open ?? []), ...(batch.pending?.ids ?? [])]);
  return members.filter((id) => unfinished.has(id));
};

/** Whether the downstream has taken over the whole batch, or a part, and reports results later. */
export const isPending = ({ status, pending, startedBy }: Batch): boolean =>
  status === 'in-progress' && pending !== undefined && startedBy === undefined;

export const isFinished = (status: BatchStatus): status is FinishedStatus => {
  switch (status) {
    case 'forming':
    case 'sealed':
    case 'in-progress':
      return false;
    case 'succeeded':
    case 'partly-failed':
    case 'failed':
      return true;
  }
};

/** A batch's final status, from the results of its members. */
export const finishedStatus = ({ succeeded, failed }: Counts): FinishedStatus => {
  if (failed === 0) return 'succeeded';
  return succeeded === 0 ? 'failed' : 'partly-failed';
};
