/**
 * What the steps need of the world, in the domain's words. `aws` and `simulation` implement these; one contract suite
 * holds them to the same behaviour.
 *
 * A call of many rows may name one twice: its writes happen in the order asked, and each has an answer.
 *
 * All reads are strongly consistent unless they say otherwise. A promise that rejects leaves open whether the write
 * happened: every step may be repeated.
 */
import type { Age } from './batching/age.ts';
import type { Batch, Counts, FinishedStatus, Noted } from './batching/batch.ts';
import type { FlowEvent } from './batching/events.ts';
import type { BatchId, Candidate, Millis, OperationName, Target, TaskId, Token } from './batching/ids.ts';
import type { Lock } from './batching/lock.ts';
import type { BatchMessage, ElectMessage, GroupMessage, ResumeMessage } from './batching/messages.ts';
import type { Page } from './batching/page.ts';
import type { SealReason, Waiting, WaitingTask } from './batching/policy.ts';
import type { Rejection } from './batching/rejection.ts';
import type { SlotPage } from './batching/slot-pages.ts';
import type { CallLine, OperationState, Pause, Slot, WaitingTarget } from './batching/slots.ts';
import type {
  NewTask,
  Outcome,
  PayloadRow,
  PayloadToStore,
  Settlement,
  Task,
  TaskError,
  TaskResult,
} from './batching/task.ts';
import type { CallbackMessage } from './callbacks/callback.ts';
import type { InputKey } from './merging/inputs.ts';
import type { Known } from './merging/merge.ts';

/** What became of a write that only one can do: whether it was this one, and the task as it is stored. */
export interface Written {
  readonly isNew: boolean;
  readonly stored: Task;
}

/** A member of a batch, whom its task names to be told, and the item that it is. */
export interface Member extends Pick<NewTask, 'callback' | 'fanOutItem' | 'mergeKeys'> {
  readonly id: TaskId;
  readonly age: Age;
}

/** A member of a batch that has no result yet. */
export interface OpenTask extends Member {
  readonly payload: string;
  /** See {@link TaskResult.payloadRow}. */
  readonly payloadRow?: PayloadRow;
}

/** A member that has a result. */
export interface EndedMember extends Member {
  readonly status: Outcome['status'];
}

/** The members of a batch: those still open, those that ended, and how many ended how. */
export interface Members {
  readonly open: readonly OpenTask[];
  /** Open ones whose payload is not stored: there is nothing to send for them. */
  readonly lost: readonly Member[];
  /** Those that still show the batch: one that was redriven since is in the counts alone. */
  readonly ended: readonly EndedMember[];
  readonly counts: Counts;
}

/** A cursor that no page gave. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';
  constructor() {
    super('the cursor is not one that a page gave: leave it out to begin with the first page');
  }
}

/**
 * A row that a later release wrote, in a way that this one does not know: a deployment went back, or its old functions still
 * run beside the new ones. It is left as it is, and whatever asked for it comes back. No retry helps before a deployment does.
 */
export class NewerRow extends Error {
  override readonly name = 'NewerRow';
  /** What the row is of, such as `task`. */
  readonly kind: string;
  readonly row: string;
  readonly version: number;
  constructor({ kind, name, version, reads, release }: NewerRowSeen) {
    super(
      `the ${kind} row ${JSON.stringify(name)} has version ${version}, and Groupage ${release} reads versions up to ${reads}: a later release wrote it. Deploy that release again, or one after it; until then the row stays as it is`,
    );
    this.kind = kind;
    this.row = name;
    this.version = version;
  }
}

interface NewerRowSeen {
  readonly kind: string;
  readonly name: string;
  readonly version: number;
  /** The newest version that this release reads. */
  readonly reads: number;
  readonly release: string;
}

/** Tasks that a store does not take for what they contain, such as a number out of its range: to ask again is no use. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
  /** Why, by task. */
  readonly reasons: ReadonlyMap<TaskId, string>;
  constructor(reasons: ReadonlyMap<TaskId, string>) {
    super(`${reasons.size} tasks cannot be stored: ${[...reasons.values()][0]}`);
    this.reasons = reasons;
  }
}

export interface Tasks {
  /**
   * R1. Inserts each task whose id is free. Answers in the order asked.
   *
   * @throws Unstorable where some cannot be stored; the others are.
   */
  insert(tasks: readonly NewTask[]): Promise<readonly Written[]>;
  /**
   * Stores payloads in rows of their own, for tasks that are `payloadApart`. To be called before a task may be claimed.
   * Leaves what is there for the task already, and takes over what is left of an earlier one with its id and payload.
   */
  storePayloads(payloads: readonly PayloadToStore[]): Promise<void>;
  /** F2. Claims each candidate for the batch if it is `created` in the same run. True for those that now show the batch. */
  claim(candidates: readonly Candidate[], batch: BatchId): Promise<readonly boolean[]>;
  /**
   * Starts a next run of each task that is still `failed` in the run in which it was read, as waiting and without a
   * batch; its payload is kept again. Undefined for one that is not stored any more.
   */
  redrive(failed: readonly Task[], at: Millis): Promise<readonly (Written | undefined)[]>;
  /**
   * H3. Loads a batch's members. One that does not show the batch any more was redriven: it is counted as failed here,
   * since only failed ones are.
   */
  members(ids: readonly TaskId[], batch: BatchId): Promise<Members>;
  /**
   * H3. Members that show the batch and are open, with their payloads, for half the price. Eventually consistent: one that is
   * left out may be open too, and one that is shown may have ended.
   */
  glance(ids: readonly TaskId[], batch: BatchId): Promise<readonly OpenTask[]>;
  /**
   * H4. Writes results onto members that are still open. Answers what became of each in this batch, whoever wrote it;
   * undefined for one that is not stored any more.
   */
  finish(results: readonly TaskResult[], batch: FinishingBatch): Promise<readonly (Outcome['status'] | undefined)[]>;
  /** Writes an open member's row as it is. Rejects where its result could not be written now either. */
  touch(id: TaskId, batch: BatchId): Promise<void>;
  get(id: TaskId): Promise<Task | undefined>;
  /** Those that are stored, in the order asked, with their results. */
  all(ids: readonly TaskId[]): Promise<readonly Task[]>;
  /** Ends tasks that are `created` in the run that was read, without a batch. Undefined for one that is not stored any more. */
  settle(
    settlements: readonly { readonly task: Pick<Task, 'id' | 'run' | 'target'>; readonly as: Settlement }[],
    end: { readonly at: Millis; readonly keep: Millis },
  ): Promise<readonly (Written | undefined)[]>;
  /** In the order asked, without what they carry: a thousand payloads and results are more than a function holds. */
  outlines(ids: readonly TaskId[]): Promise<readonly (TaskOutline | undefined)[]>;
  /** The payload of a stored task. */
  payload(id: TaskId): Promise<string | undefined>;
  /** Failed tasks of a Target, newest first. Eventually consistent. */
  failed(target: Target, limit: number, cursor?: string): Promise<Page<TaskId>>;
  /** Failed tasks of all Targets, in no order that means anything. Reads no others. Eventually consistent. */
  failedAnywhere(limit: number, cursor?: string): Promise<Page<TaskId>>;
  /**
   * Why tasks failed: likewise, those of an operation among the next `limit`, or all of these. `looked` is how many there
   * were to look at. Eventually consistent.
   */
  failures(
    operation: OperationName | undefined,
    limit: number,
    cursor?: string,
  ): Promise<Page<FailedTask> & { readonly looked: number }>;
}

/** A failed task, and why. */
export interface FailedTask extends Pick<Task, 'id' | 'operation' | 'target'> {
  readonly error: TaskError;
}

/** What a task is doing. */
export interface TaskOutline extends TaskRun, Pick<Task, 'operation'> {
  readonly status: Task['state']['status'];
  readonly batchId?: BatchId;
}

/** One life of a task, from its registration or a redrive to its result. */
export interface TaskRun {
  readonly id: TaskId;
  readonly run: number;
}

/** What the results of one attempt share. */
export interface FinishingBatch {
  readonly id: BatchId;
  readonly target: Target;
  /** Attempts at the batch until then. */
  readonly attempts: number;
  readonly at: Millis;
  /** How long finished tasks are kept, in milliseconds. */
  readonly keep: Millis;
}

export interface WaitingTasks {
  /** R2. Puts a waiting row for each task. Again is harmless: the row derives from the stored task. */
  put(tasks: readonly (WaitingTask & { readonly target: Target })[]): Promise<void>;
  /** The first rows of a Target by turn, at most `limit`. */
  first(target: Target, limit: number): Promise<readonly Waiting[]>;
  /** Whether a row is there. */
  has(target: Target, entry: string): Promise<boolean>;
  /** All rows of a Target by turn, page by page. Eventually consistent. */
  page(target: Target, limit: number, cursor?: string): Promise<Page<Waiting>>;
  /** Deletes rows by their entries. */
  remove(target: Target, entries: readonly string[]): Promise<void>;
  /** How many rows wait, counted up to `limit`. Eventually consistent. */
  count(target: Target, limit: number): Promise<number>;
}

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
export interface Glance extends LockRow {
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
  glance(target: Target): Promise<Glance>;
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
  land(target: Target, batch: BatchId): Promise<Lock>;
  /** A person's pause takes the place of any other. Answers whether it did. The row does not expire while it lasts. */
  pause(target: Target, pause: Pause): Promise<boolean>;
  /** Ends the pause of that id. False if another one, or none, is stored. */
  resume(target: Target, id: string, now: Millis): Promise<boolean>;
  /** Gives a row that would expire as much time as a leader would. False, and nothing is written, if there is no such row. */
  keep(target: Target, now: Millis): Promise<boolean>;
  /** F6. Clears `batch` if it is the open one. @param uncountedAt the lock's {@link Lock.uncountedAt} from then on */
  closeBatch(target: Target, batch: BatchId, uncountedAt?: Millis): Promise<void>;
  /** G8. Uses `fence` up, if the stored one is still `seen` and the lock has no holder. */
  burn(target: Target, fence: number, seen: number, now: Millis): Promise<boolean>;
  /** Asks for rows that wait at `at` to be sealed at once, unless a later flush did; answers the lock as it is then. */
  flush(target: Target, at: Millis): Promise<Lock>;
  /**
   * Targets that have a lock row, of one operation, by name: all, or those whose grouping values, which follow `operation/`,
   * begin with `prefix`. Then no others are read. Eventually consistent.
   */
  targets(operation: OperationName, limit: number, cursor?: string, prefix?: string): Promise<Page<Target>>;
}

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
  extends Required<Pick<Batch, 'tries' | 'counts' | 'lastAttempt'>>,
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
      readonly tries: number;
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

/** Slots for batches, on pages (src/batching/slot-pages.ts). A page that has no row has no slots. */
export interface SlotPages<Owner> {
  /** Slots of a page at the most. */
  readonly pageSize: number;
  /** Pages beyond the first one, 0: those of `cap` slots that have a row, in no order. */
  slotPages(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** The same for half the price. Eventually consistent. */
  slotPagesEventually(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** The slots of one of these pages. */
  slotPage(owner: Owner, page: number): Promise<readonly Slot[]>;
  /** Takes a slot of a page, or still has it, if fewer than `most` of that page are taken. @param page 0 where left out */
  takeSlot(owner: Owner, slot: Slot, most: number, page?: number): Promise<boolean>;
  /** Gives a slot of a page back. Answers the page's slots as they were, or undefined if it was not taken. */
  freeSlot(owner: Owner, slot: Slot, page?: number): Promise<readonly Slot[] | undefined>;
}

/**
 * The rows that an operation's Targets share (section 5, additions). Their first page of slots is the operation's row: there a
 * slot is taken only if the operation is not paused.
 */
export interface Operations extends SlotPages<OperationName> {
  read(operation: OperationName): Promise<OperationState>;
  /** Takes a slot of the first page as `takeSlot` does, but only if the operation never had slots on further pages. */
  takeOnlyPage(operation: OperationName, slot: Slot, most: number): Promise<boolean>;
  /** Notes, before a slot is taken on a further page, for which cap that is: {@link OperationState.largestCap}. */
  noteCap(operation: OperationName, cap: number): Promise<void>;
  /** G9a. Lets a Target, or a batch, wait for room. Again is harmless. */
  enqueue(operation: OperationName, waiting: WaitingTarget): Promise<void>;
  /** W1. The first Targets by turn, at most `limit`. */
  waiting(operation: OperationName, limit: number): Promise<readonly WaitingTarget[]>;
  /** Whether this one waits. */
  isWaiting(operation: OperationName, waiting: WaitingTarget): Promise<boolean>;
  /**
   * W3. False if it did not wait any more, or if this is a later stay of it: see {@link WaitingTarget.by}.
   *
   * @param which `any`: whichever stay it is. @default 'this'
   */
  dequeue(operation: OperationName, waiting: WaitingTarget, which?: 'this' | 'any'): Promise<boolean>;
  /** A person's pause takes the place of any other, a circuit's of none. */
  pause(operation: OperationName, pause: Pause): Promise<boolean>;
  /** Ends the pause of that id. False if another one, or none, is stored. */
  resume(operation: OperationName, id: string): Promise<boolean>;
  /**
   * Counts a failed attempt, as `by` of them. Answers how many in a row. A request that the client repeats, since its
   * answer was lost, may count twice: a circuit opens earlier by so much.
   */
  addFailure(operation: OperationName, by?: number): Promise<number>;
  /** Notes since when calls are refused since there are too many, unless that is noted already. */
  markThrottled(operation: OperationName, at: Millis): Promise<void>;
  /** The downstream takes calls. */
  resetFailures(operation: OperationName): Promise<void>;
  /** Sets who wakes many, if that is still as `seen`, by its id. Undefined: nobody does. */
  markWaking(
    operation: OperationName,
    seen: string | undefined,
    next: NonNullable<OperationState['waking']> | undefined,
  ): Promise<boolean>;
  /** Sets the line of reserved calls, if it is still as `seen`. Undefined: there is none. */
  reserveCall(operation: OperationName, seen: CallLine | undefined, next: CallLine | undefined): Promise<boolean>;
}

/** An input that a job has done: its key, and what tells for which of its texts (`src/merging/merge.ts`). */
export interface ProcessedKey extends Known {
  readonly key: InputKey;
}

/** Which inputs of a Target have been done, for as long as its operation's tasks are kept. */
export interface ProcessedKeys {
  /** What is known of those that are stored and not over at `now`, by key. */
  known(target: Target, keys: readonly InputKey[], now: Millis): Promise<ReadonlyMap<InputKey, Known>>;
  /** Stores them in the place of what was known of their keys for `keep` from `at` on. */
  remember(target: Target, processed: readonly ProcessedKey[], at: Millis, keep: Millis): Promise<void>;
}

/** Sends messages between the λs. `delay` is in whole seconds, 0 to 900. */
export interface Queues {
  /** Sends register messages as a producer does. */
  register(bodies: readonly string[]): Promise<void>;
  elect(messages: readonly ElectMessage[]): Promise<void>;
  /** To the elect queue, too. */
  resume(message: ResumeMessage, delay: number): Promise<void>;
  group(message: GroupMessage, delay: number): Promise<void>;
  batch(message: BatchMessage, delay: number): Promise<void>;
  reject(rejections: readonly Rejection[]): Promise<void>;
  /** Events for initiators. */
  callbacks(messages: readonly CallbackMessage[]): Promise<void>;
  /** Bodies of callback messages that are not sent again by themselves. As new messages SQS keeps them for fourteen days. */
  giveUp(bodies: readonly string[]): Promise<void>;
}

/** The queues that tasks flow through, each with a dead-letter queue. */
export type WorkingQueue = 'register' | 'elect' | 'group' | 'batch';

/** All queues with a dead-letter queue. Events wait in `callback`, which is there where there are destinations. */
export type SourceQueue = WorkingQueue | 'callback';

/** Queues without a function: a queue's dead letters, refused messages, and events that are not sent again by themselves. */
export type LetterQueue = SourceQueue | 'rejected' | 'given-up';

/** A message that was received too often, or refused. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  /** How often it has been sent again so far. */
  readonly revivals: number;
  /** When it was sent, or refused, by the clock of its queue. To become a dead letter makes it no younger. */
  readonly sentAt: Millis;
  /** The same of the first message, if this one is a repetition of it. */
  readonly firstSentAt: Millis;
  /** Needed to delete it; ends with its visibility timeout. */
  readonly receipt: string;
}

export interface DeadLetters {
  /** Some messages of the queue's dead-letter queue, or of the rejected one; none when it is empty. */
  receive(queue: LetterQueue): Promise<readonly DeadLetter[]>;
  /** Sends a letter's body, which may be a better one, to the working queue after `delay` seconds. Answers the new message's id. */
  revive(queue: SourceQueue, letter: DeadLetter, delay: number): Promise<string>;
  remove(queue: LetterQueue, letter: DeadLetter): Promise<void>;
  /** About how many lie there, those included that somebody has in hand. Takes none, and hides none. */
  count(queue: LetterQueue): Promise<number>;
}

/** About how many messages are in a queue that somebody works off. */
export interface Backlog {
  /** Whoever polls gets them. */
  readonly waiting: number;
  /** In somebody's hand. */
  readonly inFlight: number;
  /** Sent with a delay that is not over. */
  readonly delayed: number;
}

export interface Backlogs {
  /** Takes none, and hides none. */
  of(queue: SourceQueue): Promise<Backlog>;
}

export interface ReadMeter {
  /** What the reads of some work consumed, in read units, however much of it happens at one time. */
  measure(work: () => Promise<void>): Promise<number>;
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

/** Some work took longer than it may. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
  /** @param from the service that was asked, where it was one */
  constructor(limit: Millis, from?: string) {
    super(`no answer${from === undefined ? '' : ` from ${from}`} within ${Math.round(limit)} ms`);
  }
}

/** Time, chance and names. Steps take them from here, so that a simulation can decide them. */
export interface Machine {
  now(): Millis;
  sleep(duration: Millis): Promise<void>;
  /**
   * What some work comes to, unless it takes longer than `limit`. Nothing stops the work: it may still happen later.
   *
   * @throws TimeIsUp, or what the work throws
   */
  within<T>(limit: Millis, work: () => Promise<T>): Promise<T>;
  /** Uniform in [0, 1). */
  random(): number;
  token(): Token;
}

/** The one run of a λ that a step is part of. */
export interface Invocation {
  /** Milliseconds until the function's timeout. */
  timeLeft(): Millis;
}

/** An invocation for a message. */
export interface Delivery extends Invocation {
  /** SQS's name for the message. */
  readonly messageId: string;
  /** How often the message was delivered, this time included. More than once: an earlier run may have stopped amid it. */
  readonly deliveries: number;
}

/** Tells what happened, for logs and counts. Must not throw. */
export type Report = (event: FlowEvent) => void;
