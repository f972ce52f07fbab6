/** Batches, from the first row to the last attempt. */

import type { Batch, Counts, FinishedStatus, Noted } from '../domain/batches/batch.ts';
import type { SealReason } from '../domain/batches/policy.ts';
import type { BatchId, Candidate, Millis, Target, Token } from '../domain/ids.ts';
import type { Page } from '../domain/page.ts';

export interface FormingBatch {
  readonly id: BatchId;
  readonly target: Target;
  readonly sealedBy: SealReason;
  readonly candidates: readonly Candidate[];
  readonly oldestAt: Millis;
  readonly createdAt: Millis;
  /** See {@link Batch.slotPage}, {@link Batch.targetPage}. */
  readonly slotPage?: number;
  readonly targetPage?: number;
}

/** What a batch shows between attempts. */
export interface Postponed
  extends Required<Pick<Batch, 'countedAttempts' | 'counts' | 'lastAttempt'>>,
    Pick<Batch, 'open' | 'pending' | 'split' | 'uncounted'> {
  readonly retryAt: Millis;
}

export interface Batches {
  /** F1. Stores the batch if absent. Answers the stored one. */
  form(batch: FormingBatch): Promise<Batch>;
  get(id: BatchId): Promise<Batch | undefined>;
  /** F3. Seals a forming batch (`succeeded` at once if it has no members). Answers the stored one, whoever sealed it. */
  seal(
    batch: Batch,
    dropped: readonly Candidate[],
    at: Millis,
    keep: Millis,
  ): Promise<{ readonly batch: Batch; readonly byMe: boolean }>;
  /** H2. Starts `attempt` if the one before is the stored one and none runs at `at`. The batch then shows `token`. */
  start(
    id: BatchId,
    start: {
      readonly attempt: number;
      readonly countedAttempts: number;
      /** As the batch then shows it; what it shows stays where this is undefined. */
      readonly uncounted?: number | undefined;
      readonly token: Token;
      readonly at: Millis;
      readonly runUntil: Millis;
    },
  ): Promise<boolean>;
  /** H1. Notes the message that goes on with a paused batch. False if another one is noted, or if the batch is finished. */
  hold(id: BatchId, next: NextHeld): Promise<boolean>;
  /** H5. Ends an attempt with members still open, if it is mine: the next one may start after `retryAt`. */
  postpone(id: BatchId, attempt: number, postponed: Postponed): Promise<boolean>;
  /** Notes that a batch which is not over has its place in the lock of its Target. False if it is over. */
  place(id: BatchId): Promise<boolean>;
  /** H6. Answers the batch as it is then; undefined if the attempt is not mine. */
  finish(
    id: BatchId,
    attempt: number,
    end: { readonly status: FinishedStatus; readonly counts: Counts; readonly at: Millis; readonly keep: Millis },
  ): Promise<Batch | undefined>;
  /** Sealed batches of a Target, newest first. Eventually consistent. */
  ofTarget(target: Target, limit: number, cursor?: string): Promise<Page<BatchId>>;
}

/** The message that goes on with a paused batch. */
export interface NextHeld extends Noted {
  /** The message whose place it takes. Only that one's note, or one of an earlier span, is replaced. */
  readonly after: Token;
}
