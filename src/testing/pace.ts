/**
 * How virtual time goes by in a testbed: by what is planned, in order, each with all that follows from it. While code
 * of the test's own is at work (a downstream, a destination) the clock stands still, unless that code waits for it.
 */
import { clearTimeout, setTimeout } from 'node:timers';
import type { Millis } from '../domain/ids.ts';
import { type Scheduler, settled } from '../virtual/scheduler.ts';
import { TestbedMisused } from './failures.ts';

/**
 * How long, in milliseconds of real time, code of the test's own may do nothing that the testbed can see. Less than the five
 * seconds after which vitest and jest end a test, and do not know what it waited for.
 */
const PATIENCE = 4_000;
/** As much never happens in one moment: something goes round in a circle. */
const EVENTS_IN_A_MOMENT = 1_000_000;

export class Pace {
  readonly scheduler: Scheduler;
  readonly #patience: number;
  /** Code of the test's own that is at work, by what it is. */
  readonly #outside = new Map<symbol, string>();
  /** How much code of the test's own has begun and not ended: at work, or waiting for virtual time. */
  #begun = 0;
  #onQuiet: () => void = () => {};
  #isRunning = false;
  #failures: unknown[] = [];

  /** @param patience see {@link PATIENCE} */
  constructor(scheduler: Scheduler, patience = PATIENCE) {
    this.scheduler = scheduler;
    this.#patience = patience;
  }

  /** What cannot be an outcome in the testbed: whoever lets time go by hears of it. */
  fail(cause: unknown): void {
    this.#failures.push(cause);
  }

  /** Runs code of the test's own. @param what it is, for people */
  async outside<T>(what: string, work: (takes: (span: Millis) => Promise<void>) => T | Promise<T>): Promise<T> {
    const key = Symbol(what);
    const begin = (): unknown => this.#outside.set(key, what);
    const end = (): void => {
      this.#outside.delete(key);
      if (this.#outside.size === 0) this.#onQuiet();
    };
    const takes = async (span: Millis): Promise<void> => {
      if (!this.#outside.has(key)) throw new TestbedMisused(`${what} has ended, or waits already`);
      end();
      await this.scheduler.wait(span);
      begin();
    };
    begin();
    this.#begun += 1;
    try {
      return await work(takes);
    } finally {
      this.#begun -= 1;
      end();
    }
  }

  /** Whether code of the test's own has begun, and will go on. */
  get isAtWork(): boolean {
    return this.#begun > 0;
  }

  /**
   * Lets happen what is due, until `isDone` or `limit` has come. Returns whether it was done.
   *
   * @throws what was told to {@link Pace.fail} meanwhile; TestbedMisused where time goes by already
   */
  async run(limit: Millis, isDone: () => boolean = () => false): Promise<boolean> {
    if (this.#isRunning) throw this.#misused();
    this.#isRunning = true;
    try {
      return await this.#run(limit, isDone);
    } finally {
      this.#isRunning = false;
    }
  }

  async #run(limit: Millis, isDone: () => boolean): Promise<boolean> {
    let [moment, events] = [this.scheduler.now, 0];
    for (;;) {
      await settled();
      await this.#quiet();
      this.#throwFailure();
      if (isDone()) return true;
      const { next } = this.scheduler;
      if (next === undefined || next > limit) break;
      [moment, events] = next === moment ? [moment, events + 1] : [next, 0];
      if (events > EVENTS_IN_A_MOMENT)
        throw new Error(`more than ${EVENTS_IN_A_MOMENT} things happened at ${new Date(moment).toISOString()}`);
      await this.scheduler.step();
    }
    this.scheduler.skipTo(limit);
    return false;
  }

  /** Whoever asks from within a downstream would wait for himself: the test hears of it, not only the downstream. */
  #misused(): TestbedMisused {
    const misused = new TestbedMisused(
      'time goes by already: await advance() or settle() before the next one; in a downstream use call.takes()',
    );
    if (this.#outside.size > 0) this.fail(misused);
    return misused;
  }

  #throwFailure(): void {
    const failures = this.#failures;
    this.#failures = [];
    if (failures.length > 0)
      throw failures.length === 1 ? failures[0] : new AggregateError(failures, String(failures[0]));
  }

  async #quiet(): Promise<void> {
    while (this.#outside.size > 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(this.#noAnswer()), this.#patience);
        this.#onQuiet = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      await settled();
    }
  }

  #noAnswer(): TestbedMisused {
    const whose = [...this.#outside.values()].join(', ');
    const since = `no answer for ${this.#patience} ms of real time`;
    return new TestbedMisused(`${since} from ${whose}: to take virtual time, use call.takes()`);
  }
}
