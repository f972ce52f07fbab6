/**
 * The store of the algorithm with renewed locks. It keeps a lock for each partition, which expires by the clock unless it is
 * renewed.
 */
import type { Millis } from '../../../src/domain/ids.ts';

export interface Lock {
  readonly holder: string;
  readonly until: Millis;
}

/** The answer to a conditional write: the lock after the write, or the lock because of which the write failed. */
export interface Answer {
  readonly isDone: boolean;
  /** Absent if the lock is free. */
  readonly lock: Lock | undefined;
}

export class Locks {
  readonly #locks = new Map<string, Lock>();
  readonly #now: () => Millis;
  readonly #lasts: Millis;

  /**
   * @param now the time of day, which is correct on every host
   * @param lasts how long a lock lasts, in milliseconds
   */
  constructor(now: () => Millis, lasts: Millis) {
    this.#now = now;
    this.#lasts = lasts;
  }

  /**
   * Takes a lock that is free or expired. The first request wins. If the holder repeats its request, nothing changes.
   */
  acquire(partition: string, by: string): Answer {
    const lock = this.#locks.get(partition);
    return lock === undefined || lock.until <= this.#now() || lock.holder === by
      ? this.#write(partition, by)
      : { isDone: false, lock };
  }

  /** Renews a lock for its holder if no other host has taken the lock. An expired lock can also be renewed. */
  renew(partition: string, by: string): Answer {
    const lock = this.#locks.get(partition);
    return lock?.holder === by ? this.#write(partition, by) : { isDone: false, lock };
  }

  release(partition: string, by: string): Answer {
    const lock = this.#locks.get(partition);
    if (lock?.holder !== by) return { isDone: false, lock };
    this.#locks.delete(partition);
    return { isDone: true, lock: undefined };
  }

  holderOf(partition: string): string | undefined {
    return this.#locks.get(partition)?.holder;
  }

  #write(partition: string, holder: string): Answer {
    const lock = { holder, until: this.#now() + this.#lasts };
    this.#locks.set(partition, lock);
    return { isDone: true, lock };
  }
}
