/** What the two threads of a node tell each other without a message: one of them may be blocked. */
import type { Millis } from '../../batching/ids.ts';

/** Milliseconds of a clock that only goes on, the same in all threads of a process, a stopped process's time included. */
export const monotonic = (): Millis => Number(process.hrtime.bigint() / 1_000_000n);

const [DEADLINE, SIGN_OF_LIFE] = [0, 1];

export class Shared {
  readonly buffer: SharedArrayBuffer;
  readonly #moments: BigInt64Array;

  /** @param buffer of the other thread's */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.buffer = buffer;
    this.#moments = new BigInt64Array(buffer);
  }

  /** P7. Until when partitions may be worked on. */
  get deadline(): Millis {
    return Number(Atomics.load(this.#moments, DEADLINE));
  }

  set deadline(moment: Millis) {
    Atomics.store(this.#moments, DEADLINE, BigInt(Math.floor(moment)));
  }

  /** When the thread that works showed last that it is not blocked. */
  get signOfLife(): Millis {
    return Number(Atomics.load(this.#moments, SIGN_OF_LIFE));
  }

  showLife(): void {
    Atomics.store(this.#moments, SIGN_OF_LIFE, BigInt(monotonic()));
  }
}
