/** What a node depends on, and its settings. */

import type { DropReason, LifeEvent } from '../domain/fleets/events.ts';
import type { Lease, Share } from '../domain/fleets/fleet.ts';
import type { FleetName } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';
import type { Fleets, Held } from '../ports/fleets.ts';

export interface Clock {
  /** Monotonic clock, in milliseconds. */
  now(): Millis;
  /** Time of day, for people. */
  wall(): Millis;
  sleep(span: Millis): Promise<void>;
  /** A random number from a uniform distribution over [0, 1). */
  random(): number;
}

/** The work on partitions, which runs in another thread. */
export interface Work {
  /** Begins work on a partition, from the checkpoint that the last owner stored. */
  begin(held: Held, checkpoint: Lease['checkpoint']): void;
  /** Ends the work on a partition. When the work has ended, the working thread reports the partition as drained. */
  drain(held: Held): void;
  drop(held: Held, reason: DropReason): void;
  /** P7. Allows work until this time of the monotonic clock. */
  mayUntil(deadline: Millis): void;
  /** Time since the last sign of life of the working thread, in milliseconds. */
  silentFor(): Millis;
}

export interface MemberDeps {
  readonly fleets: Fleets;
  readonly clock: Clock;
  readonly work: Work;
  readonly report: (event: LifeEvent) => void;
  /** Called after each read with the number of partitions that no node works on. */
  readonly seen?: (unworked: number) => void;
}

export interface Setting {
  readonly fleet: FleetName;
  readonly shares: readonly Share[];
  readonly cycle: Millis;
  /**
   * Longest time without a sign of life of the working thread, in milliseconds. After this time, the heartbeats stop.
   */
  readonly maxBlocked: Millis;
  /** P13. How long the partitions of a stopped process wait for its successor, in milliseconds. 0: not at all. */
  readonly restartWithin: Millis;
  /** P12. How long a node that gives all partitions away works on those that no node asks for, in milliseconds. */
  readonly notice: Millis;
  /** Longest time that giving all partitions away may take, in milliseconds. */
  readonly leaveWithin: Millis;
}

/** Result of a failed call. The call may have taken effect nevertheless. */
export const FAILED = Symbol('a call that failed');

/** Makes a call and reports a failure. The caller repeats the call. */
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

/** Sleeps that can be ended early, all at once. */
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
