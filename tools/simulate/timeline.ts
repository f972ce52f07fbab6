/** Counts events in time intervals of equal length. The length doubles whenever there would be too many intervals. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Stretch } from './outcome.ts';

const MOST = 400;

interface Counts {
  arrived: number;
  calls: number;
  throttled: number;
  waiting: number;
}

export class Timeline {
  #length: Millis = 1_000;
  #stretches: Counts[] = [];
  #waiting = 0;

  /** @param at time since the start of the trace, in ms; must not decrease */
  count(at: Millis, what: 'arrived' | 'calls' | 'throttled'): void {
    this.#at(at)[what] += 1;
  }

  /** Changes the number of tasks that wait for their first call by `more`. */
  wait(at: Millis, more: number): void {
    this.#waiting += more;
    this.#at(at).waiting = this.#waiting;
  }

  get stretches(): readonly Stretch[] {
    return this.#stretches.map((counts, index) => ({ at: index * this.#length, ...counts }));
  }

  #at(at: Millis): Counts {
    while (at >= this.#length * MOST) this.#halve();
    const index = Math.floor(at / this.#length);
    while (this.#stretches.length <= index)
      this.#stretches.push({ arrived: 0, calls: 0, throttled: 0, waiting: this.#waiting });
    return this.#stretches[index] as Counts;
  }

  #halve(): void {
    this.#length *= 2;
    const halves = this.#stretches;
    this.#stretches = Array.from({ length: Math.ceil(halves.length / 2) }, (_, index) => {
      const [first, second] = [halves[2 * index] as Counts, halves[2 * index + 1]];
      return {
        arrived: first.arrived + (second?.arrived ?? 0),
        calls: first.calls + (second?.calls ?? 0),
        throttled: first.throttled + (second?.throttled ?? 0),
        waiting: (second ?? first).waiting,
      };
    });
  }
}
