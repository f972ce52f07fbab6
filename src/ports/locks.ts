/**
 * The store of locks: the lock of each Target, which its leader holds, and the progress of the patrol over the locks.
 * Each write of a leader is conditional on its fence and token, so that a leader whose lease has ended cannot change
 * the lock of the next one.
 */
import type { Lock } from '../domain/batches/lock.ts';
import type { Waiting } from '../domain/batches/policy.ts';
import type { BatchId, Millis, OperationName, Target, Token } from '../domain/ids.ts';
import type { Pause } from '../domain/operations/slots.ts';
import type { Page } from '../domain/page.ts';
import type { SlotPages } from './slot-pages.ts';

/** The fields of a lock that must be as read for a function to acquire it or hand it over. */
type SeenLock = Pick<Lock, 'fence' | 'flushedAt'>;

/** The fence and token that a leader's conditional write must still find. */
export interface Mine {
  readonly fence: number;
  readonly token: Token;
}

/** A Target's lock as stored. */
export interface LockRow {
  readonly lock: Lock;
  /** When the row expires, in milliseconds since the epoch. Absent if it does not expire. */
  readonly expiresAt?: Millis;
}

/** A Target's lock and its first waiting row. */
export interface LockView extends LockRow {
  /** The waiting row that comes first. */
  readonly first?: Waiting;
}

/**
 * The locks. The slots of a Target are on pages. There is no first page: the lock holds the batches in flight instead.
 */
export interface Locks extends SlotPages<Target> {
  read(target: Target): Promise<Lock>;
  /** The locks of several Targets, in the order of `targets` (R3). Undefined for a Target without a row. */
  readAll(targets: readonly Target[]): Promise<readonly (LockRow | undefined)[]>;
  /** Puts lock rows for Targets that have none (R3). The patrol finds stranded tasks by the lock rows. */
  enlist(targets: readonly Target[], now: Millis): Promise<void>;
  /**
   * Reads the lock and the first waiting row for half a read unit. Eventually consistent, so no decision may depend on
   * the result.
   */
  readEventually(target: Target): Promise<LockView>;
  /**
   * Acquires the lock with `fence`, if its fence and flush are still as `seen` and no leader holds it at `now` (L3,
   * G8).
   */
  acquire(
    target: Target,
    take: Mine & { readonly seen: SeenLock; readonly now: Millis; readonly until: Millis },
  ): Promise<boolean>;
  /**
   * Releases the lock, if the caller still holds it and no batch is open (G3). The Target no longer waits for a free
   * slot.
   */
  release(target: Target, mine: Mine): Promise<boolean>;
  /**
   * Releases the lock and marks the Target as waiting for a free slot since `at`, if the caller still holds the lock,
   * no batch is open and the round is still as read (G5b).
   */
  block(target: Target, mine: Mine, read: { readonly round: number; readonly at: Millis }): Promise<boolean>;
  /**
   * Marks a Target without a leader as waiting for a free slot since `at`, if its fence is still the stored one and no
   * batch is open (H7).
   */
  blockUnled(target: Target, seen: { readonly fence: number; readonly at: Millis }): Promise<boolean>;
  /**
   * Hands the lock over to the next fence, if the caller still holds it, no batch is open and the flush is still as
   * `seen` (G4). If `waits`, the Target no longer waits for a free slot.
   */
  handOver(
    target: Target,
    mine: Mine,
    next: {
      readonly token: Token;
      readonly seen: SeenLock;
      readonly now: Millis;
      readonly until: Millis;
      readonly waits?: boolean;
    },
  ): Promise<boolean>;
  /** Moves the end of the lease, if the caller still holds the lock and no batch is open. */
  extend(target: Target, mine: Mine, until: Millis): Promise<boolean>;
  /**
   * Opens `batch` as round `round`, marked with `by`, if the caller still holds the lock, no batch is open, the stored
   * round is the one before it and the Target is not paused (G5). With `perTarget`, only if fewer batches than that are
   * in flight; `batch` is then added to the batches in flight. Also stores `largestCap` and `uncountedAt`.
   */
  openBatch(
    target: Target,
    mine: Mine,
    open: {
      readonly batch: BatchId;
      readonly round: number;
      readonly by: Token;
      readonly until: Millis;
      readonly perTarget?: number | null;
      /** Set if its slot of the Target is on a page: {@link Lock.largestCap}. */
      readonly largestCap?: number | undefined;
      /** Set if there is no cap: {@link Lock.uncountedAt}. */
      readonly uncountedAt?: Millis | undefined;
    },
  ): Promise<boolean>;
  /** Adds `batches` to those in flight, if the caller still holds the lock and no batch is open. */
  count(target: Target, mine: Mine, batches: readonly BatchId[]): Promise<boolean>;
  /**
   * Stores that all batches opened up to `uncountedAt` are counted, if the caller still holds the lock, no batch is
   * open, and that time is still the stored one.
   */
  counted(target: Target, mine: Mine, uncountedAt: Millis): Promise<boolean>;
  /** Deletes pages of slots that are empty when they are deleted. */
  dropPages(target: Target, pages: readonly number[]): Promise<void>;
  /** Removes `batch` from those in flight (H7). Returns the lock as it was before. */
  releaseSlot(target: Target, batch: BatchId): Promise<Lock>;
  /**
   * Pauses a Target on a user's request, replacing any other pause. Returns whether the pause was stored. The row does
   * not expire during the pause.
   */
  pause(target: Target, pause: Pause): Promise<boolean>;
  /**
   * Stores whether the last call for the Target failed or succeeded: {@link Lock.failedAt}, {@link Lock.workedAt}.
   *
   * @param hasWorked whether an earlier call succeeded. @default - as stored
   */
  noteCall(target: Target, last: 'failed' | 'worked', at: Millis, hasWorked?: boolean): Promise<void>;
  /** Ends the pause with this id. False if another pause, or no pause, is stored. */
  resume(target: Target, id: string, now: Millis): Promise<boolean>;
  /**
   * Moves the expiry of a lock row, as a new leader would. False, without a write, if there is no row with an expiry.
   */
  keep(target: Target, now: Millis): Promise<boolean>;
  /**
   * Removes the mark of the open batch, if the open batch is `batch` (F6).
   *
   * @param uncountedAt the new value of {@link Lock.uncountedAt}
   */
  closeBatch(target: Target, batch: BatchId, uncountedAt?: Millis): Promise<void>;
  /** Uses up `fence` without a batch, if the stored fence is still `seen` and the lock has no holder (G8). */
  skipFence(target: Target, fence: number, seen: number, now: Millis): Promise<boolean>;
  /** Makes rows that wait at `at` due at once, unless a later flush is stored. Returns the stored lock. */
  flush(target: Target, at: Millis): Promise<Lock>;
  /**
   * Targets of one operation that have a lock row, by name. With `prefix`, only those whose grouping values (the part
   * after `operation/`) begin with it; no others are read. Eventually consistent.
   */
  targets(operation: OperationName, limit: number, cursor?: string, prefix?: string): Promise<Page<Target>>;
  /**
   * Targets of all operations that have a lock row, also of operations that are no longer configured, in no order. Reads
   * the key of every Target. Eventually consistent.
   */
  everyTarget(limit: number, cursor?: string): Promise<Page<Target>>;
}

/** The progress of the patrol over the lock rows, stored between its invocations. */
export interface PatrolMark {
  readonly operation: OperationName;
  readonly cursor?: string;
  /**
   * How many lock rows the patrol has read in its current round. `lastRound` is the number for the whole previous
   * round.
   */
  readonly seen: number;
  readonly lastRound: number;
}

export interface PatrolMarks {
  read(): Promise<PatrolMark | undefined>;
  write(mark: PatrolMark): Promise<void>;
}
