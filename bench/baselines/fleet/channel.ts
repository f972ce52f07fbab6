/** Notices between hosts. Each subscriber receives a notice after some milliseconds, or not at all if it is lost. */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Random } from '../../../src/virtual/random.ts';
import type { Scheduler } from '../../../src/virtual/scheduler.ts';

/** The notices between hosts that renew locks. */
export type Notice =
  /** Notices of the first subscription, which are about hosts. */
  | { readonly about: 'host'; readonly host: string; readonly is: 'there' | 'gone' }
  /** Notices of the second subscription, which are about partitions. */
  | {
      readonly about: 'partition';
      readonly partition: string;
      readonly by: string;
      readonly until: Millis | undefined;
    };

/** The shortest and the longest delay of a notice, in milliseconds. */
const [SOONEST, LATEST]: readonly [Millis, Millis] = [20, 100];

interface Subscriber<Heard> {
  readonly hear: (notice: Heard) => void;
  /**
   * For each publisher, the time at which its last notice arrives. Notices of one publisher arrive in the order of
   * sending.
   */
  readonly last: Map<string, Millis>;
}

export class Channel<Heard> {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #lost: number;
  readonly #echoes: boolean;
  readonly #subscribers = new Map<string, Subscriber<Heard>>();

  /**
   * @param lost the share of notices that do not arrive, 0 to 1; each subscriber may lose a notice independently
   * @param echoes whether a publisher receives its own notices, as in Redis
   */
  constructor(scheduler: Scheduler, random: Random, lost: number, echoes: boolean = false) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#lost = lost;
    this.#echoes = echoes;
  }

  subscribe(host: string, hear: (notice: Heard) => void): void {
    this.#subscribers.set(host, { hear, last: new Map() });
  }

  unsubscribe(host: string): void {
    this.#subscribers.delete(host);
  }

  publish(from: string, notice: Heard): void {
    const { now } = this.#scheduler;
    for (const [host, { hear, last }] of this.#subscribers) {
      if ((host === from && !this.#echoes) || this.#random.chance(this.#lost)) continue;
      const at = Math.max(last.get(from) ?? 0, now + this.#random.int(SOONEST, LATEST));
      last.set(from, at);
      this.#scheduler.after(at - now, () => hear(notice));
    }
  }
}
