/** Notices between hosts. A notice reaches all subscribers after some milliseconds, or is lost. */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Random } from '../../../src/virtual/random.ts';
import type { Scheduler } from '../../../src/virtual/scheduler.ts';

export type Notice =
  /** Notices of the first subscription: about hosts. */
  | { readonly about: 'host'; readonly host: string; readonly is: 'there' | 'gone' }
  /** Notices of the second subscription: about partitions. */
  | {
      readonly about: 'partition';
      readonly partition: string;
      readonly by: string;
      readonly until: Millis | undefined;
    };

/** Shortest and longest delay of a notice, in milliseconds. */
const [SOONEST, LATEST]: readonly [Millis, Millis] = [20, 100];

interface Subscriber {
  readonly hear: (notice: Notice) => void;
  /** Notices of one publisher arrive in their order. */
  readonly last: Map<string, Millis>;
}

export class Channel {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #lost: number;
  readonly #subscribers = new Map<string, Subscriber>();

  /** @param lost share of notices that do not arrive, 0 to 1, drawn for each subscriber */
  constructor(scheduler: Scheduler, random: Random, lost: number) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#lost = lost;
  }

  subscribe(host: string, hear: (notice: Notice) => void): void {
    this.#subscribers.set(host, { hear, last: new Map() });
  }

  unsubscribe(host: string): void {
    this.#subscribers.delete(host);
  }

  publish(from: string, notice: Notice): void {
    const { now } = this.#scheduler;
    for (const [host, { hear, last }] of this.#subscribers) {
      if (host === from || this.#random.chance(this.#lost)) continue;
      const at = Math.max(last.get(from) ?? 0, now + this.#random.int(SOONEST, LATEST));
      last.set(from, at);
      this.#scheduler.after(at - now, () => hear(notice));
    }
  }
}
