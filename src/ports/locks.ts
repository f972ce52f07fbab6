/** The lock of each Target, which its leader holds, and how far the patrol of the locks has come. */
import type { Lock } from '../domain/batches/lock.ts';
import type { Waiting } from '../domain/batches/policy.ts';
import type { BatchId, Millis, OperationName, Target, Token } from '../domain/ids.ts';
import type { Pause } from '../domain/operations/slots.ts';
import type { Page } from '../domain/page.ts';
import type { SlotPages } from './slot-pages.ts';

/** What a lock must still show for somebody who read it to take it or pass it on. */
type SeenLock = Pick<Lock, 'fence' | 'flushedAt'>;

/** The state a conditional write on the lock must still find. */
export interface Mine {
  readonly fence: number;
  readonly token: Token;
}

/** A Target's lock, as it is stored. */
export interface LockRow {
  readonly lock: Lock;
  /** When the row expires, in ms of the epoch, if it does. */
  readonly expiresAt?: Millis;
}

/** A Target at a glance. */
export interface LockView extends LockRow {
  /** The waiting task whose turn is next. */
  readonly first?: Waiting;
}

/** Slots of a Target are on pages beyond the first one, in whose place its lock has some batches in flight. */
export interface Locks extends SlotPages<Target> {
  read(target: Target): Promise<Lock>;
  /** R3. The locks of several Targets, in the order asked; undefined for one that has no row yet. */
  readAll(targets: readonly Target[]): Promise<readonly (LockRow | undefined)[]>;
  /** R3. Gives Targets their rows, where they have none: who looks for stranded tasks goes by these. */
  enlist(targets: readonly Target[], now: Millis): Promise<void>;
  /** The lock and the first waiting row for half a read unit. Eventually consistent: to look, not to decide. */
  readEventually(target: Target): Promise<LockView>;
  /** L3, G8. Takes `fence` if the lock's fence and its flush are still as `seen`, and nobody holds it at `now`. */
  acquire(
    target: Target,
    take: Mine & { readonly seen: SeenLock; readonly now: Millis; readonly until: Millis },
  ): Promise<boolean>;
  /** G3. Gives the lock back, if mine and no batch is open; it does not wait for room any more. */
  release(target: Target, mine: Mine): Promise<boolean>;
  /** G5b. Gives the lock back to wait for room since `at`, if mine, no batch is open and the round is still as read. */
  block(target: Target, mine: Mine, read: { readonly round: number; readonly at: Millis }): Promise<boolean>;
  /** H7. Lets a Target that nobody leads wait for room since `at`, if its fence is still the stored one and no batch is open. */
  blockUnled(target: Target, seen: { readonly fence: number; readonly at: Millis }): Promise<boolean>;
  /**
   * G4. Passes the lock to the next fence, if mine, no batch is open and the flush is still as `seen`. For a wait it does
   * not wait for room any more.
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
  /**
   * G5. Marks `batch` open as round `round`, `by` this turn, if mine, none is open, the round before it is the stored one
   * and the Target is not paused. With `perTarget`: only if fewer are in flight, which it joins. The lock shows `largestCap` and
   * `uncountedAt` from then on.
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
      /** Where it has its place in the Target on a page: {@link Lock.largestCap}. */
      readonly largestCap?: number | undefined;
      /** Where there is no cap: {@link Lock.uncountedAt}. */
      readonly uncountedAt?: Millis | undefined;
    },
  ): Promise<boolean>;
  /** Counts `batches` among those in flight, if mine and no batch is open. False if not. */
  count(target: Target, mine: Mine, batches: readonly BatchId[]): Promise<boolean>;
  /** Notes that all batches that were opened until `uncountedAt` are counted, if mine, no batch is open, and that moment is stored. */
  counted(target: Target, mine: Mine, uncountedAt: Millis): Promise<boolean>;
  /** Deletes pages of slots, except those on which a slot is taken by then. */
  dropPages(target: Target, pages: readonly number[]): Promise<void>;
  /** H7. Takes `batch` out of those in flight. Answers the lock as it was before. */
  releaseSlot(target: Target, batch: BatchId): Promise<Lock>;
  /** A person's pause takes the place of any other. Answers whether it did. The row does not expire while it lasts. */
  pause(target: Target, pause: Pause): Promise<boolean>;
  /** Ends the pause of that id. False if another one, or none, is stored. */
  resume(target: Target, id: string, now: Millis): Promise<boolean>;
  /** Gives a row that would expire as much time as a leader would. False, and nothing is written, if there is no such row. */
  keep(target: Target, now: Millis): Promise<boolean>;
  /** F6. Clears `batch` if it is the open one. @param uncountedAt the lock's {@link Lock.uncountedAt} from then on */
  closeBatch(target: Target, batch: BatchId, uncountedAt?: Millis): Promise<void>;
  /** G8. Uses `fence` up, if the stored one is still `seen` and the lock has no holder. */
  skipFence(target: Target, fence: number, seen: number, now: Millis): Promise<boolean>;
  /** Asks for rows that wait at `at` to be sealed at once, unless a later flush did; answers the lock as it is then. */
  flush(target: Target, at: Millis): Promise<Lock>;
  /**
   * Targets that have a lock row, of one operation, by name: all, or those whose grouping values, which follow `operation/`,
   * begin with `prefix`. Then no others are read. Eventually consistent.
   */
  targets(operation: OperationName, limit: number, cursor?: string, prefix?: string): Promise<Page<Target>>;
}

/** Where the patrol of the lock rows stands, kept between the minutes. */
export interface PatrolMark {
  readonly operation: OperationName;
  readonly cursor?: string;
  /** Lock rows seen in the round that is under way, and in the whole round before. */
  readonly seen: number;
  readonly lastRound: number;
}

export interface PatrolMarks {
  read(): Promise<PatrolMark | undefined>;
  write(mark: PatrolMark): Promise<void>;
}
