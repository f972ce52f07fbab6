/**
 * A batch: the tasks that go downstream in one call.
 *
 * States: *forming* (its candidates are written, each is being claimed) → *sealed* (its members are final) →
 * *in-progress* (attempt after attempt) → *succeeded*, *partly-failed* or *failed*.
 * Invariants: candidates are written once; a task is a member only if it shows this batch's id; a batch with no member
 * is *succeeded* as soon as it is sealed.
 */
import type { Reason } from '../downstream/downstream.ts';
import type { BatchId, Candidate, Millis, OperationName, Target, TaskId, Token } from '../ids.ts';
import { parseCandidate } from '../ids.ts';
import type { SealReason } from './policy.ts';

export type BatchStatus = 'forming' | 'sealed' | 'in-progress' | FinishedStatus;
export type FinishedStatus = 'succeeded' | 'partly-failed' | 'failed';

/** How many members ended how. */
export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
}

/** Members that a job has, and until when it may report: then they are called about again. */
export interface Pending {
  readonly ids: readonly TaskId[];
  readonly until: Millis;
}

/** How an attempt ended after which another is to come: when, and why something was left. */
export interface LastAttempt extends Reason {
  readonly endedAt: Millis;
}

/** Characters of the downstream's that are kept with a batch: its row is written with every attempt. */
const QUOTE_MAX = 200;

/** Half a surrogate pair could not be stored. */
const shortened = (quote: string): string =>
  quote.length <= QUOTE_MAX ? quote : `${quote.slice(0, QUOTE_MAX - 1).toWellFormed()}…`;

/** The last attempt as it is kept, its quote cut where it is long. */
export const lastAttempt = ({ reason, quote }: Reason, endedAt: Millis): LastAttempt => ({
  endedAt,
  reason,
  ...(quote === undefined ? {} : { quote: shortened(quote) }),
});

/** A message that looks at a paused batch again and again, and in which span of time it did (src/steps/call/hold.ts). */
export interface Held {
  readonly by: Token;
  readonly span: number;
}

/** What a message says of itself when it is sent. */
export interface SentHeld extends Held {
  /** The message that was noted when this one was sent. That note does not end this one, which may be received before its own note is written. */
  readonly after?: Token;
}

/** A message's note of that in the batch's row. */
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
  /** The waiting tasks that its leader saw, in their order. */
  readonly candidates: readonly Candidate[];
  /** Candidates that another batch, or a newer run, had taken. Known once sealed. */
  readonly dropped: readonly Candidate[];
  /** Numbers the attempts: only the current one may postpone or finish the batch. */
  readonly attempt: number;
  /** Attempts that count against `maxAttempts`: one that a circuit, or the function's time amid its parts, ended does not. */
  readonly countedAttempts: number;
  /** Attempts in a row, up to the last one, that did not count because their results could not be stored. @default 0 */
  readonly uncounted?: number;
  /** Who runs the current attempt; nobody between attempts. */
  readonly startedBy?: Token;
  /** Until then an attempt runs, or a retry waits; nobody else may start one. */
  readonly runUntil: Millis;
  /** Members without a result when its last attempt ended. Absent where there are no others. */
  readonly open?: readonly TaskId[];
  /** Further ones: the downstream has taken them over, and reports later. */
  readonly pending?: Pending;
  /** Its next attempt calls in parts of at most so many items: an earlier one ran out of time amid halving, or found larger calls too large. */
  readonly split?: number;
  /** The last one that was not the end of the batch. */
  readonly lastAttempt?: LastAttempt;
  /** Of those that are neither open nor pending. */
  readonly counts?: Counts;
  /** The message that went on last while a pause held the batch up. */
  readonly held?: Noted;
  /** The page of its operation's slots on which its slot was taken, if that is not the first one. */
  readonly slotPage?: number;
  /** The page of its Target's slots on which its place was taken; 0 is the lock. Absent where the Target had no cap, or it is not known. */
  readonly targetPage?: number;
  /** When its oldest candidate began to wait. */
  readonly oldestAt: Millis;
  readonly createdAt: Millis;
  readonly sealedAt?: Millis;
  readonly startedAt?: Millis;
  readonly finishedAt?: Millis;
}

/** The tasks of a sealed batch, in the order in which they waited. */
export const membersOf = (batch: Pick<Batch, 'candidates' | 'dropped'>): TaskId[] => {
  const dropped = new Set(batch.dropped);
  return batch.candidates
    .filter((candidate) => !dropped.has(candidate))
    .map((candidate) => parseCandidate(candidate).id);
};

/** The members that may still be without a result, in the order in which they waited. */
export const unfinishedOf = (batch: Pick<Batch, 'candidates' | 'dropped' | 'open' | 'pending'>): TaskId[] => {
  const members = membersOf(batch);
  if (!batch.open && !batch.pending) return members;
  const unfinished = new Set([...(batch.open ?? []), ...(batch.pending?.ids ?? [])]);
  return members.filter((id) => unfinished.has(id));
};

/** Whether its downstream has taken it over, or some of it, and reports later. */
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

/** A batch's final status from what became of its members. */
export const finishedStatus = ({ succeeded, failed }: Counts): FinishedStatus => {
  if (failed === 0) return 'succeeded';
  return succeeded === 0 ? 'failed' : 'partly-failed';
};
