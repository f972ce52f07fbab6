/**
 * Communication between the two threads of a node: messages, and shared memory for what must work while a thread is
 * blocked.
 */

import type { DropReason, FleetEvent } from '../domain/fleets/events.ts';
import type { NodeId } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import type { NodeNameTaken } from './belonging.ts';
import type { Setting } from './member.ts';
import type { TableAt } from './table-at.ts';

export interface ThreadData {
  readonly at: TableAt;
  readonly id: NodeId;
  readonly setting: Setting;
  /** Whether this node writes metrics. */
  readonly measures: boolean;
  readonly shared: SharedArrayBuffer;
}

export type ToHeartbeats =
  | { readonly do: 'leave' }
  | { readonly do: 'drained'; readonly held: Held; readonly isReleased: boolean };

export type ToWorkers =
  | {
      readonly do: 'begin';
      readonly held: Held;
      readonly checkpoint: string | undefined;
      /** Number of the node's life that holds the partition, from 1. */
      readonly life: number;
    }
  | { readonly do: 'drain'; readonly held: Held }
  | { readonly do: 'drop'; readonly held: Held; readonly reason: DropReason }
  /** The deadline was extended, so suspended work may continue. */
  | { readonly do: 'go-on' }
  | { readonly do: 'tell'; readonly event: FleetEvent }
  /** How many partitions no node works on, according to the last read. */
  | { readonly do: 'seen'; readonly unworked: number }
  /** P14. Another process has the name of the node. */
  | { readonly do: 'refused'; readonly by: NodeNameTaken['other'] }
  /** The node has left the fleet. */
  | { readonly do: 'over' };

/**
 * Milliseconds of a monotonic clock that all threads of a process share. It also counts the time during which the
 * process is stopped.
 */
export const monotonic = (): Millis => Number(process.hrtime.bigint() / 1_000_000n);

const [DEADLINE, SIGN_OF_LIFE, LIFE] = [0, 1, 2];

export class Shared {
  readonly buffer: SharedArrayBuffer;
  readonly #moments: BigInt64Array;

  /** @param buffer the other thread's buffer */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(24)) {
    this.buffer = buffer;
    this.#moments = new BigInt64Array(buffer);
  }

  /** P7. Deadline of work that was begun in a life of the node. 0 after the end of that life. */
  deadlineOf(life: number): Millis {
    const deadline = Number(Atomics.load(this.#moments, DEADLINE));
    // Read the life after the deadline, because the other thread writes the life before the deadline. A later life's
    // deadline is therefore never used for an earlier life.
    return this.life === life ? deadline : 0;
  }

  /** @returns whether the previous deadline had passed, so that the working thread may wait for the new deadline */
  extend(deadline: Millis): boolean {
    const before = Number(Atomics.exchange(this.#moments, DEADLINE, BigInt(Math.floor(deadline))));
    // Read the clock after the exchange: a thread that found the previous deadline passed did so before the exchange.
    return monotonic() >= before;
  }

  /**
   * Number of lives that the node has had. A blocked thread gets no message that a life has ended, but it can read this
   * number.
   */
  get life(): number {
    return Number(Atomics.load(this.#moments, LIFE));
  }

  nextLife(): void {
    Atomics.add(this.#moments, LIFE, 1n);
  }

  /** Time at which the working thread last showed that it is not blocked. */
  get signOfLife(): Millis {
    return Number(Atomics.load(this.#moments, SIGN_OF_LIFE));
  }

  showLife(): void {
    Atomics.store(this.#moments, SIGN_OF_LIFE, BigInt(monotonic()));
  }
}
