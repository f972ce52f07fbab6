/**
 * The store of batches. Each write that changes a batch is conditional on its status or attempt, so that of two
 * functions with the same batch only one proceeds.
 */

import type { Batch, Counts, FinishedStatus, Noted } from '../domain/batches/batch.ts';
import type { CallRecord } from '../domain/batches/call-record.ts';
import type { SealReason } from '../domain/batches/policy.ts';
import type { BatchId, Candidate, Millis, OperationName, Target, Token } from '../domain/ids.ts';
import type { Grant } from '../domain/limits/bucket.ts';
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
  /** See {@link Batch.grants}. */
  readonly grants?: readonly Grant[];
}

/**
 * A batch that is sealed and not finished, and that has had an attempt, or has waited for one for a while. A batch whose
 * first attempt is still to come or runs is not listed, because that would cost two writes for each batch.
 */
export interface UnderWay extends Pick<Batch, 'id' | 'target' | 'oldestAt' | 'lastAttempt'> {
  /** Members without a result. Absent if a function of release 0.2.0 sealed the batch. */
  readonly tasks?: number;
}

/** The fields of a batch between two attempts. */
export interface Postponed
  extends Required<Pick<Batch, 'countedAttempts' | 'counts' | 'lastAttempt' | 'calls'>>,
    Pick<Batch, 'open' | 'pending' | 'split' | 'parts' | 'partFailures' | 'spared' | 'suspicion' | 'uncounted'> {
  readonly retryAt: Millis;
  /** The moments whose leases its jobs keep. If undefined, the stored ones stay. */
  readonly grants?: readonly Grant[];
}

export interface Batches {
  /** Stores the batch if absent (F1). Returns the stored batch. */
  form(batch: FormingBatch): Promise<Batch>;
  get(id: BatchId): Promise<Batch | undefined>;
  /**
   * Seals a forming batch (F3); a batch without members is `succeeded` at once. Returns the stored batch, and in `byMe`
   * whether this call sealed it.
   */
  seal(
    batch: Batch,
    dropped: readonly Candidate[],
    at: Millis,
    keep: Millis,
  ): Promise<{ readonly batch: Batch; readonly byMe: boolean }>;
  /**
   * Starts `attempt` if the stored attempt is the one before it and no attempt runs at `at` (H2). Stores `token` as the
   * invocation that runs the attempt.
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
      /** The moments of this attempt, if their leases must be ended after it. */
      readonly grants?: readonly Grant[] | undefined;
    },
  ): Promise<boolean>;
  /**
   * Stores which message continues to check a paused batch (H1). False if the row names another message already, or if
   * the batch is finished.
   */
  hold(id: BatchId, next: NextHeld): Promise<boolean>;
  /**
   * Ends an attempt that leaves members without a result (H5). The next attempt may start after `retryAt`. False if
   * `attempt` is not the current one.
   */
  postpone(id: BatchId, attempt: number, postponed: Postponed): Promise<boolean>;
  /**
   * Stores in an unfinished batch that the Target's lock holds its slot of the Target. False if the batch is finished.
   */
  place(id: BatchId): Promise<boolean>;
  /** Finishes the batch (H6). Returns the finished batch, or undefined if the attempt is not the current one. */
  finish(
    id: BatchId,
    attempt: number,
    end: {
      readonly status: FinishedStatus;
      readonly counts: Counts;
      readonly at: Millis;
      readonly keep: Millis;
      /** The last calls. If undefined, the stored calls stay. */
      readonly calls?: readonly CallRecord[] | undefined;
    },
  ): Promise<Batch | undefined>;
  /** Sealed batches of a Target, newest first. Eventually consistent. */
  ofTarget(target: Target, limit: number, cursor?: string): Promise<Page<BatchId>>;
  /** Batches of an operation that are under way, the one with the oldest task first. Eventually consistent. */
  underWay(operation: OperationName, limit: number, cursor?: string): Promise<Page<UnderWay>>;
}

/** The message that continues to check a paused batch. */
export interface NextHeld extends Noted {
  /**
   * The message that this message replaces. The write succeeds if the row names that message, no message, or a message
   * of an earlier time span, or if only the new message says that an attempt does not count.
   */
  readonly after: Token;
}
