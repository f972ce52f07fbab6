/**
 * The work on one partition while this node owns it.
 *
 * States:
 * - working: `onPartition` runs, and the deadline (P7) is in the future.
 * - suspended: the deadline has passed, so the signals were aborted. The work begins again when there is a later
 *   deadline, unless the partition has been dropped, and only after the last call has ended.
 * - draining: `signal` was aborted. Once the call has ended, the partition is given away.
 * - finished: the call returned without being asked to. What follows is an option of the user.
 * - dropped: another node has the partition, or may take it, and this node cannot prevent that.
 */

import type { DropReason, LifeEvent, WhenFinished } from '../domain/fleets/events.ts';
import { CHECKPOINT_MAX_BYTES } from '../domain/fleets/fleet.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { type Clock, Sleeper } from './member.ts';
import { CheckpointTooLarge, type Partition, PartitionDraining, PartitionLost } from './partition.ts';

export interface WorkDeps {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly onPartition: (partition: Partition) => Promise<void>;
  /** P7. Deadline of the work on a held partition, by the clock. */
  readonly deadline: (held: Held) => Millis;
  /** Resolves when there is a later deadline. */
  readonly nextDeadline: () => Promise<void>;
  /** P8. Stores a checkpoint. Returns whether this node still owns the partition. */
  readonly checkpoint: (held: Held, text: string, count: number) => Promise<boolean>;
  /** @param isReleased whether the work returned without being asked to, so that this node gives the partition up */
  readonly drained: (held: Held, isReleased?: boolean) => void;
  readonly whenFinished: WhenFinished;
  readonly report: (event: LifeEvent, held: Held) => void;
}

/** Shortest and longest pause after a failed call, in milliseconds. */
const [PAUSE_MIN, PAUSE_MAX]: readonly [Millis, Millis] = [1_000, 60_000];

/** How long after the loss of its partition a call may run before an event reports that, in milliseconds. */
const STILL_RUNNING: Millis = 10_000;

interface Call {
  readonly ending: AbortController;
  readonly lost: AbortController;
  /** When the partition was lost, if it was. */
  lostAt?: Millis;
  isStuck?: boolean;
}

/** How a call of `onPartition` ended. `stopped`: because its signal was aborted. */
type Ended = { readonly how: 'stopped' | 'finished' } | { readonly how: 'failed'; readonly cause: unknown };

export class PartitionWork {
  readonly #held: Held;
  readonly #deps: WorkDeps;
  #checkpoint: string | undefined;
  /**
   * The number of the last checkpoint that was sent, and the number of the newest checkpoint that is stored. Several
   * checkpoints may be in flight at once.
   */
  #sent = 0;
  #stored = 0;
  #call: Call | undefined;
  #isDraining = false;
  #dropped: DropReason | undefined;
  #isFinished = false;
  #isReleased = false;
  /** When the last checkpoint was stored, or when this owner began. */
  #storedAt: Millis;
  readonly #over = Promise.withResolvers<void>();
  /** Pauses after calls that failed. */
  readonly #pauses: Sleeper;

  constructor(held: Held, checkpoint: string | undefined, deps: WorkDeps) {
    this.#held = held;
    this.#checkpoint = checkpoint;
    this.#deps = deps;
    this.#storedAt = deps.clock.now();
    this.#pauses = new Sleeper(deps.clock);
  }

  /** Calls `onPartition` until the partition is drained or dropped. Resolves when no call runs any more. */
  async run(): Promise<void> {
    const { clock, report } = this.#deps;
    let pause = PAUSE_MIN;
    while (!this.#isOver) {
      if (this.#isLate) {
        await Promise.race([this.#deps.nextDeadline(), this.#over.promise]);
        continue;
      }
      const from = clock.now();
      const ended = await this.#once();
      // A call that ran for longer than the last pause starts a new series of pauses.
      if (ended.how === 'stopped' || clock.now() - from >= pause) pause = PAUSE_MIN;
      if (ended.how === 'stopped') continue;
      if (ended.how === 'failed')
        report({ event: 'work-failed', ...this.#name, pause, cause: ended.cause }, this.#held);
      else if (this.#deps.whenFinished === 'release') {
        this.#isReleased = !this.#isOver;
        break;
      }
      // Do not let this sleep race with `#over`. Each race would add a listener to that promise, and work may fail
      // for weeks.
      if (!this.#isOver) await this.#pauses.sleep(pause);
      pause = Math.min(2 * pause, PAUSE_MAX);
    }
    if (!this.isDropped) this.#deps.drained(this.#held, this.#isReleased);
  }

  /** Whether the call returned, and the partition is kept without work. */
  get isFinished(): boolean {
    return this.#isFinished && !this.#isOver;
  }

  /** Whether a call still runs although its partition was lost some time ago. */
  get isStuck(): boolean {
    return this.#call?.isStuck === true;
  }

  /** Age of the last checkpoint in milliseconds. Undefined if none was ever stored, or no work is to be done. */
  get checkpointAge(): Millis | undefined {
    const isUsed = this.#checkpoint !== undefined && !this.#isOver && !this.#isFinished;
    return isUsed ? this.#deps.clock.now() - this.#storedAt : undefined;
  }

  /** Aborts `signal`, so that the work ends in its own time. */
  drain(): void {
    if (this.#isOver) return;
    this.#isDraining = true;
    this.#call?.ending.abort(new PartitionDraining(this.#held.partition));
    this.#end();
  }

  drop(reason: DropReason): void {
    if (this.isDropped) return;
    this.#dropped = reason;
    this.#abort(reason);
    this.#end();
  }

  #end(): void {
    this.#over.resolve();
    this.#pauses.wakeAll();
  }

  /** Resolves when the partition has been drained or dropped. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isDropped(): boolean {
    return this.#dropped !== undefined;
  }

  /** P7. Must be called after the deadline has passed. */
  suspend(): void {
    if (this.#isLate) this.#abort('deadline');
  }

  get #isOver(): boolean {
    return this.#isDraining || this.isDropped;
  }

  get #isLate(): boolean {
    return this.#deps.clock.now() >= this.#deps.deadline(this.#held);
  }

  get #name() {
    const { partition, fence } = this.#held;
    return { partition, fence };
  }

  #abort(reason: DropReason): void {
    const error = new PartitionLost(this.#held.partition, reason);
    const call = this.#call;
    if (!call) return;
    call.lost.abort(error);
    call.ending.abort(error);
    if (call.lostAt === undefined) void this.#watch(call, reason);
  }

  /** Reports a call that does not return after the loss of its partition. */
  async #watch(call: Call, reason: DropReason): Promise<void> {
    const { clock, report } = this.#deps;
    call.lostAt = clock.now();
    await clock.sleep(STILL_RUNNING);
    if (this.#call !== call) return;
    call.isStuck = true;
    report({ event: 'still-running', ...this.#name, reason, span: clock.now() - call.lostAt }, this.#held);
  }

  /** Makes one call of `onPartition`. */
  async #once(): Promise<Ended> {
    const call: Call = { ending: new AbortController(), lost: new AbortController() };
    this.#call = call;
    try {
      await this.#deps.onPartition(this.#partitionOf(call));
      if (call.ending.signal.aborted) return { how: 'stopped' };
      const { report, whenFinished } = this.#deps;
      report({ event: 'finished', ...this.#name, whenFinished }, this.#held);
      if (whenFinished !== 'keep') return { how: 'finished' };
      // Work that the call left running may go on while this node keeps the partition.
      this.#isFinished = true;
      await this.#over.promise;
      return { how: 'stopped' };
    } catch (cause) {
      return isExplained(call, cause) ? { how: 'stopped' } : { how: 'failed', cause };
    } finally {
      this.#call = undefined;
      // Stop any work that the call left running, because no later abort would reach that work.
      const error = new PartitionLost(this.#held.partition, 'ended');
      call.lost.abort(error);
      call.ending.abort(error);
    }
  }

  #partitionOf({ ending, lost }: Call): Partition {
    const { partition, fence } = this.#held;
    return {
      id: partition,
      fence,
      from: this.#checkpoint,
      signal: ending.signal,
      lost: lost.signal,
      assertOwned: () => {
        if (!lost.signal.aborted && this.#isLate) this.#abort('deadline');
        lost.signal.throwIfAborted();
      },
      checkpoint: (text) => this.#store(text, lost),
    };
  }

  /**
   * Stores a checkpoint. The table decides whether this node still owns the partition, not the deadline: even after the
   * deadline, no other node may have taken the partition yet.
   */
  async #store(text: string, lost: AbortController): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (bytes > CHECKPOINT_MAX_BYTES) throw new CheckpointTooLarge(bytes);
    this.#sent += 1;
    const count = this.#sent;
    if (await this.#deps.checkpoint(this.#held, text, count)) {
      // The answer to an earlier checkpoint may arrive after the answer to a later checkpoint.
      if (count > this.#stored)
        [this.#stored, this.#checkpoint, this.#storedAt] = [count, text, this.#deps.clock.now()];
      return;
    }
    this.drop('taken');
    lost.signal.throwIfAborted();
    throw new PartitionLost(this.#held.partition, 'taken');
  }
}

/** Whether a call ended because its signal was aborted, judged by the error that it threw. */
const isExplained = ({ ending }: Call, cause: unknown): boolean =>
  ending.signal.aborted &&
  (cause instanceof PartitionLost ||
    cause instanceof PartitionDraining ||
    (cause instanceof Error && cause.name === 'AbortError'));
