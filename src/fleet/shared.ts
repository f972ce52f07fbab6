/** What the two threads of a node tell each other: by messages, and without one where a thread may be blocked. */

import type { DropReason, FleetEvent } from '../domain/fleets/events.ts';
import type { NodeId } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import type { Setting } from './member.ts';
import type { TableAt } from './table-at.ts';

export interface ThreadData {
  readonly at: TableAt;
  readonly id: NodeId;
  readonly setting: Setting;
  readonly shared: SharedArrayBuffer;
}

export type ToHeartbeats = { readonly do: 'leave' } | { readonly do: 'drained'; readonly held: Held };

export type ToWorkers =
  | {
      readonly do: 'begin';
      readonly held: Held;
      readonly checkpoint: string | undefined;
      /** Of the node's lives the one that it is held in: the first is 1. */
      readonly life: number;
    }
  | { readonly do: 'drain'; readonly held: Held }
  | { readonly do: 'drop'; readonly held: Held; readonly reason: DropReason }
  /** There is a later deadline. */
  | { readonly do: 'go-on' }
  | { readonly do: 'tell'; readonly event: FleetEvent }
  /** It has left. */
  | { readonly do: 'over' };

/** Milliseconds of a clock that only goes on, the same in all threads of a process, a stopped process's time included. */
export const monotonic = (): Millis => Number(process.hrtime.bigint() / 1_000_000n);

const [DEADLINE, SIGN_OF_LIFE, LIFE] = [0, 1, 2];

export class Shared {
  readonly buffer: SharedArrayBuffer;
  readonly #moments: BigInt64Array;

  /** @param buffer of the other thread's */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(24)) {
    this.buffer = buffer;
    this.#moments = new BigInt64Array(buffer);
  }

  /** P7. Until when what was begun in a life of the node may be worked on: never again, once that life is over. */
  deadlineOf(life: number): Millis {
    const deadline = Number(Atomics.load(this.#moments, DEADLINE));
    // Read after the deadline, and written before it: a later life's is taken for nobody else's.
    return this.life === life ? deadline : 0;
  }

  /** @returns whether the one before had passed, so that somebody may wait for this one. */
  extend(deadline: Millis): boolean {
    const before = Number(Atomics.exchange(this.#moments, DEADLINE, BigInt(Math.floor(deadline))));
    // Asked after the exchange: whoever found it passed did so before that.
    return monotonic() >= before;
  }

  /** How many lives the node has had. Messages of what is over wait for a thread that is blocked; this does not. */
  get life(): number {
    return Number(Atomics.load(this.#moments, LIFE));
  }

  nextLife(): void {
    Atomics.add(this.#moments, LIFE, 1n);
  }

  /** When the thread that works showed last that it is not blocked. */
  get signOfLife(): Millis {
    return Number(Atomics.load(this.#moments, SIGN_OF_LIFE));
  }

  showLife(): void {
    Atomics.store(this.#moments, SIGN_OF_LIFE, BigInt(monotonic()));
  }
}
