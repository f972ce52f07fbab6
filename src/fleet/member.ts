/** What a node is made of: what it needs of the world, and how it is set up. */

import type { DropReason, LifeEvent } from '../domain/fleets/events.ts';
import type { Lease, Share } from '../domain/fleets/fleet.ts';
import type { FleetName } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { Fleets, Held } from '../ports/fleets.ts';

export interface Clock {
  /** Monotonic. */
  now(): Millis;
  /** Of the day: for people. */
  wall(): Millis;
  sleep(span: Millis): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

/** Whoever works on the partitions: in another thread, whose time is its own. */
export interface Work {
  /** Begins with what the last owner has stored. */
  begin(held: Held, checkpoint: Lease['checkpoint']): void;
  /** It ends what it does, and says so to {@link Hands.drained}. */
  drain(held: Held): void;
  drop(held: Held, reason: DropReason): void;
  /** P7. It may work until then, by the monotonic clock. */
  mayUntil(deadline: Millis): void;
  /** For how long it has not shown any sign of life. */
  silentFor(): Millis;
}

export interface MemberDeps {
  readonly fleets: Fleets;
  readonly clock: Clock;
  readonly work: Work;
  readonly report: (event: LifeEvent) => void;
}

export interface Setting {
  readonly fleet: FleetName;
  readonly shares: readonly Share[];
  readonly cycle: Millis;
  /** Who is blocked for longer than that is not spoken for any more. */
  readonly maxBlocked: Millis;
  /** How long it may take to give all away. */
  readonly leaveWithin: Millis;
}

/** What became of a call: it failed, and nobody knows whether it did what it was to do. */
export const FAILED = Symbol('a call that failed');

/** A call that fails is told of, and made again by whoever makes it. */
export const attempt = async <T>(
  { report }: Pick<MemberDeps, 'report'>,
  call: string,
  make: () => Promise<T>,
): Promise<T | typeof FAILED> => {
  try {
    return await make();
  } catch (cause) {
    report({ event: 'store-failed', call, cause });
    return FAILED;
  }
};

/** Sleeps that can be ended, all at once. */
export class Sleeper {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #sleeping = new Set<() => void>();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  sleep(span: Millis): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleeping.delete(wake);
        resolve();
      };
      this.#sleeping.add(wake);
      this.#clock.sleep(span).then(wake, wake);
    });
  }

  wakeAll(): void {
    for (const wake of [...this.#sleeping]) wake();
  }
}
