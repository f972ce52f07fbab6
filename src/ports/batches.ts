/**
 * The store of batches. Each write that changes a batch is conditional on its status or attempt, so that of two
 * functions with the same batch only one proceeds.
 */

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

/** The fields of a batch between two attempts. */
export interface Postponed
  extends Required<Pick<Batch, 'countedAttempts' | 'counts' | 'lastAttempt'>>,
    Pick<Batch, 'open' | 'pending' | 'split' | 'uncounted'> {
  readonly retryAt: Millis;
}

export interface Batches {
  /** Stores the batch if absent (F1). Returns the stored batch. */
  form(batch: FormingBatch): Promise<Batch>;
  get(id: BatchId): Promise<Batch | undefined>;
  /**
   * Seals a forming batch, as `succeeded` if it has no members (F3). Returns the stored batch. `byMe`: whether this
   * call sealed it.
   */
  seal(
    batch: Batch,
    dropped: readonly Candidate[],
    at: Millis,
    keep: Millis,
  ): Promise<{ readonly batch: Batch; readonly byMe: boolean }>;
  /**
   * Starts `attempt` if the attempt before it is the stored one and none runs at `at` (H2). The batch then shows
   * `token`.
   */
  start(
    id: BatchId,
    start: {
      readonly attempt: number;
      readonly countedAttempts: number;
      /** The new value of `uncounted`. If undefined, the stored value stays. */
      readonly uncounted?: number | undefined;
      readonly token: Token;
      readonly at: Millis;
      readonly runUntil: Millis;
    },
  ): Promise<boolean>;
  /**
   * Notes the message that continues to check a paused batch (H1). False if another message is noted, or if the batch
   * is finished.
   */
  hold(id: BatchId, next: NextHeld): Promise<boolean>;
  /**
   * Ends an attempt with members still open (H5). The next attempt may start after `retryAt`. False if the attempt is
   * not the current one.
   */
  postpone(id: BatchId, attempt: number, postponed: Postponed): Promise<boolean>;
  /** Notes that an unfinished batch has its slot of the Target in the Target's lock. False if the batch is finished. */
  place(id: BatchId): Promise<boolean>;
  /** Finishes the batch (H6). Returns it as stored then; undefined if the attempt is not the current one. */
  finish(
    id: BatchId,
    attempt: number,
    end: { readonly status: FinishedStatus; readonly counts: Counts; readonly at: Millis; readonly keep: Millis },
  ): Promise<Batch | undefined>;
  /** Sealed batches of a Target, newest first. Eventually consistent. */
  ofTarget(target: Target, limit: number, cursor?: string): Promise<Page<BatchId>>;
}

/** The message that continues to check a paused batch. */
export interface NextHeld extends Noted {
  /** The message that it replaces. Only the note of that message, or a note of an earlier span, is replaced. */
  readonly after: Token;
}
