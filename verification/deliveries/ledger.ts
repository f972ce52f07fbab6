/** When each event was sent, taken and given up, recorded apart from the code that is judged. */
import type { Millis } from '../../src/domain/ids.ts';

/** One event. */
export interface Sent {
  readonly id: string;
  readonly to: string;
  /** When the task ended that it is about, and when it was put into the queue, or among the dead letters. */
  readonly about: Millis;
  readonly at: Millis;
  takenAt?: Millis;
  givenUpAt?: Millis;
}

export class Ledger {
  readonly sent = new Map<string, Sent>();
  /** When each destination was called. */
  readonly calls = new Map<string, Millis[]>();

  called(name: string, at: Millis): void {
    const calls = this.calls.get(name) ?? [];
    calls.push(at);
    this.calls.set(name, calls);
  }

  get open(): Sent[] {
    return [...this.sent.values()].filter(({ takenAt, givenUpAt }) => takenAt === undefined && givenUpAt === undefined);
  }
}
