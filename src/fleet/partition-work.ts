/**
 * The work on one partition, for as long as it is this node's.
 *
 * It is in one of these states:
 * - working: `onPartition` runs, and the deadline (P7) lies ahead;
 * - suspended: the deadline has passed, so that its signals were aborted; it begins again once there is another one, if the
 *   partition has not been dropped by then, and not before the last call has ended;
 * - draining: its `signal` was aborted; once the call has ended it is given away;
 * - dropped: it is another's, and nothing here can change that.
 */

import type { DropReason, LifeEvent } from '../domain/fleets/events.ts';
import { CHECKPOINT_MAX_BYTES } from '../domain/fleets/fleet.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { withResolvers } from '../util/resolvers.ts';
import { type Clock, Sleeper } from './member.ts';
import { CheckpointTooLarge, type Partition, PartitionDraining, PartitionLost } from './partition.ts';

export interface WorkDeps {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly onPartition: (partition: Partition) => Promise<void>;
  /** P7. Until when what is held may be worked on, by the clock. */
  readonly deadline: (held: Held) => Millis;
  /** Resolves when there is a later deadline. */
  readonly nextDeadline: () => Promise<void>;
  /** P8. */
  readonly checkpoint: (held: Held, text: string, count: number) => Promise<boolean>;
  readonly drained: (held: Held) => void;
  readonly report: (event: LifeEvent, held: Held) => void;
}

/** After a call that failed: for how long at first, and at the most. */
const [PAUSE_MIN, PAUSE_MAX]: readonly [Millis, Millis] = [1_000, 60_000];

interface Call {
  readonly ending: AbortController;
  readonly lost: AbortController;
}

export class PartitionWork {
  readonly #held: Held;
  readonly #deps: WorkDeps;
  #checkpoint: string | undefined;
  /** How many checkpoints were to be stored, and which of them is the newest that is: several may be under way at once. */
  #sent = 0;
  #stored = 0;
  #call: Call | undefined;
  #isDraining = false;
  #dropped: DropReason | undefined;
  readonly #over = withResolvers();
  /** Of calls that failed. */
  readonly #pauses: Sleeper;

  constructor(held: Held, checkpoint: string | undefined, deps: WorkDeps) {
    this.#held = held;
    this.#checkpoint = checkpoint;
    this.#deps = deps;
    this.#pauses = new Sleeper(deps.clock);
  }

  /** Resolves when nothing runs any more. */
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
      // What went well for longer than it was paused before has not failed again and again.
      if (failure === undefined || clock.now() - from >= pause) pause = PAUSE_MIN;
      if (failure !== undefined) {
        report({ event: 'work-failed', ...this.#name, pause, cause: failure.cause }, this.#held);
        // No race with the end of it all: what fails for weeks would leave something there each time.
        if (!this.#isOver) await this.#pauses.sleep(pause);
        pause = Math.min(2 * pause, PAUSE_MAX);
      }
    }
    if (!this.isDropped) this.#deps.drained(this.#held);
  }

  /** Lets the work end in its own time. */
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

  /** Resolves when it is drained or dropped. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isDropped(): boolean {
    return this.#dropped !== undefined;
  }

  /** P7. To be called when the deadline has passed. */
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

  /** One call of `onPartition`. Answers what it failed of, if nothing that it was told explains that. */
  async #once(): Promise<{ readonly cause: unknown } | undefined> {
    const call: Call = { ending: new AbortController(), lost: new AbortController() };
    this.#call = call;
    try {
      await this.#deps.onPartition(this.#partitionOf(call));
      // It has nothing more to do, and keeps the partition: others would have nothing more to do either.
      if (!call.ending.signal.aborted) {
        this.#deps.report({ event: 'finished', ...this.#name }, this.#held);
        await this.#over.promise;
      }
      return undefined;
    } catch (cause) {
      return isExplained(call, cause) ? undefined : { cause };
    } finally {
      this.#call = undefined;
      // Whatever it has left running must not go on: it would not be told of anything any more.
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

  /** Whether it is still its own is the table's to say: nobody else may have wanted it, though the deadline has passed. */
  async #store(text: string, lost: AbortController): Promise<void> {
    const bytes = Buffer.byteLength(text);
    if (bytes > CHECKPOINT_MAX_BYTES) throw new CheckpointTooLarge(bytes);
    this.#sent += 1;
    const count = this.#sent;
    if (await this.#deps.checkpoint(this.#held, text, count)) {
      // The answer to an earlier one may come later.
      if (count > this.#stored) [this.#stored, this.#checkpoint] = [count, text];
      return;
    }
    this.drop('taken');
    lost.signal.throwIfAborted();
    throw new PartitionLost(this.#held.partition, 'taken');
  }
}

/** Whether a call ended because it was told to, by what it threw. */
const isExplained = ({ ending }: Call, cause: unknown): boolean =>
  ending.signal.aborted &&
  (cause instanceof PartitionLost ||
    cause instanceof PartitionDraining ||
    (cause instanceof Error && cause.name === 'AbortError'));
