/** The store of the published algorithm: a lock for each partition, which ends by the clock unless it is renewed. */
import type { Millis } from '../../../src/domain/ids.ts';

export interface Lock {
  readonly holder: string;
  readonly until: Millis;
}

/** What a conditional write answers: what the lock is from now on, or what it is instead. */
export interface Answer {
  readonly isDone: boolean;
  /** Nobody's without one. */
  readonly lock: Lock | undefined;
}

export class Locks {
  readonly #locks = new Map<string, Lock>();
  readonly #now: () => Millis;
  readonly #lasts: Millis;

  /** @param now the clock of the day, which is right everywhere @param lasts how long a lock is its holder's */
  constructor(now: () => Millis, lasts: Millis) {
    this.#now = now;
    this.#lasts = lasts;
  }

  /** Whoever comes first, of one that is nobody's or has ended. Again by its holder is harmless. */
  acquire(partition: string, by: string): Answer {
    const lock = this.#locks.get(partition);
    return lock === undefined || lock.until <= this.#now() || lock.holder === by
      ? this.#write(partition, by)
      : { isDone: false, lock };
  }

  /** By its holder, also after it has ended: nobody else wanted it. */
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
