/**
 * Virtual time: a queue of planned events. The scheduler runs the events in order. All work that an event starts is
 * completed before the next event.
 *
 * This folder is the virtual machine: the clock, random numbers from a seed, faults, the gate through which each call
 * on a port goes, and the trace. src/memory contains the ports on this machine, and src/processes contains the
 * functions. The test kit (src/testing) ships with all three folders. The simulator (tools/simulate) predicts with
 * them, and verification/ uses them to search for schedules that break a promise.
 */
import { nextTick } from 'node:process';
import type { Millis } from '../domain/ids.ts';

interface Planned {
  readonly at: Millis;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Resolves when all work that an event started has settled: a tick requested in a microtask comes after all microtasks.
 */
export const settled = (): Promise<void> => new Promise((resolve) => nextTick(resolve));

export class Scheduler {
  #now: Millis;
  #order = 0;
  /** A binary heap. The next event is at index 0. */
  readonly #heap: Planned[] = [];

  constructor(start: Millis) {
    this.#now = start;
  }

  get now(): Millis {
    return this.#now;
  }

  /** Plans `run` for `delay` ms from now. Events planned for the same moment run in the order of planning. */
  after(delay: Millis, run: () => void): void {
    const planned = { at: this.#now + Math.max(0, delay), order: this.#order++, run };
    this.#heap.push(planned);
    let child = this.#heap.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#sooner(child, parent)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  /** Resolves `delay` ms from now. */
  wait(delay: Millis): Promise<void> {
    return new Promise((resolve) => this.after(delay, resolve));
  }

  /**
   * Runs events until `done` returns true, until no event is planned, or until `limit` ms have passed. Returns whether
   * `done` returned true.
   */
  async run(done: () => boolean, limit: Millis): Promise<boolean> {
    // Continue in a microtask. Outside of a microtask, e.g. if a message of another thread begins a schedule, a tick
    // comes before all microtasks. Work that one event started would then overlap with the next event.
    await Promise.resolve();
    while (!done()) {
      const { next } = this;
      if (next === undefined || next > limit) return false;
      await this.step();
    }
    return true;
  }

  /** The time of the next planned event. Undefined if no event is planned. */
  get next(): Millis | undefined {
    return this.#heap[0]?.at;
  }

  /** Runs the next event, and all work that it starts. */
  async step(): Promise<void> {
    const next = this.#take();
    if (!next) return;
    this.#now = next.at;
    next.run();
    await settled();
  }

  /** Moves the clock forward to a moment. No event may be planned before that moment. */
  skipTo(moment: Millis): void {
    if (this.next !== undefined && this.next < moment) throw new Error('an event is planned before that moment');
    this.#now = Math.max(this.#now, moment);
  }

  #take(): Planned | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (!first || !last || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      if (left >= this.#heap.length) return first;
      const child = left + 1 < this.#heap.length && this.#sooner(left + 1, left) ? left + 1 : left;
      if (!this.#sooner(child, parent)) return first;
      this.#swap(child, parent);
      parent = child;
    }
  }

  #sooner(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a] as Planned, this.#heap[b] as Planned];
    return x.at < y.at || (x.at === y.at && x.order < y.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b] as Planned, this.#heap[a] as Planned];
  }
}
