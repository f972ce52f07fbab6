/**
 * The work on one partition while this node owns it.
 *
 * States:
 * - working: `onPartition` runs, and the deadline (P7) is in the future.
 * - suspended: the deadline has passed, so the signals were aborted. The work begins again when there is a later
 *   deadline, unless the partition has been dropped, and only after the last call has ended.
 * - draining: `signal` was aborted. Once the call has ended, the partition is given away.
 * - dropped: another node has the partition, or may take it, and this node cannot prevent that.
 */

import type { DropReason, LifeEvent } from '../domain/fleets/events.ts';
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
  readonly drained: (held: Held) => void;
  readonly report: (event: LifeEvent, held: Held) => void;
}

/** Shortest and longest pause after a failed call, in milliseconds. */
const [PAUSE_MIN, PAUSE_MAX]: readonly [Millis, Millis] = [1_000, 60_000];

interface Call {
  readonly ending: AbortController;
  readonly lost: AbortController;
}

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
  readonly #over = Promise.withResolvers<void>();
  /** Pauses after calls that failed. */
  readonly #pauses: Sleeper;

  constructor(held: Held, checkpoint: string | undefined, deps: WorkDeps) {
    this.#held = held;
    this.#checkpoint = checkpoint;
    this.#deps = deps;
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
      const failure = await this.#once();
      // A call that ran for longer than the last pause starts a new series of failures.
      if (failure === undefined || clock.now() - from >= pause) pause = PAUSE_MIN;
      if (failure !== undefined) {
        report({ event: 'work-failed', ...this.#name, pause, cause: failure.cause }, this.#held);
        // Do not let this sleep race with `#over`. Each race would add a listener to that promise, and work may fail
        // for weeks.
        if (!this.#isOver) await this.#pauses.sleep(pause);
        pause = Math.min(2 * pause, PAUSE_MAX);
      }
    }
    if (!this.isDropped) this.#deps.drained(this.#held);
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
    this.#call?.lost.abort(error);
    this.#call?.ending.abort(error);
  }

  /**
   * Makes one call of `onPartition`. Returns the error of the call, unless the call ended because its signal was
   * aborted.
   */
  async #once(): Promise<{ readonly cause: unknown } | undefined> {
    const call: Call = { ending: new AbortController(), lost: new AbortController() };
    this.#call = call;
    try {
      await this.#deps.onPartition(this.#partitionOf(call));
      // If the call returned before its signal was aborted, it has nothing more to do. This node keeps the partition,
      // because other nodes would have nothing to do either.
      if (!call.ending.signal.aborted) {
        this.#deps.report({ event: 'finished', ...this.#name }, this.#held);
        await this.#over.promise;
      }
      return undefined;
    } catch (cause) {
      return isExplained(call, cause) ? undefined : { cause };
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
      if (count > this.#stored) [this.#stored, this.#checkpoint] = [count, text];
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
