/**
 * How virtual time passes in a testbed. Planned events happen in order. All work that an event starts is completed
 * before the next event. While code of the test runs (a downstream, a destination), the clock stands still, unless that
 * code waits for virtual time.
 */
import { clearTimeout, setTimeout } from 'node:timers';
import type { Millis } from '../domain/ids.ts';
import { type Scheduler, settled } from '../virtual/scheduler.ts';
import { TestbedMisused } from './failures.ts';

/**
 * How long code of the test may run without a visible result, in milliseconds of real time. This time is shorter than
 * five seconds, after which vitest and jest stop a test without a message that says what the test waited for.
 */
const PATIENCE = 4_000;
/** Maximum number of events in one moment. More events mean an endless loop. */
const EVENTS_IN_A_MOMENT = 1_000_000;

export class Pace {
  readonly scheduler: Scheduler;
  readonly #patience: number;
  /** Code of the test that is running now, with a name for error messages. */
  readonly #outside = new Map<symbol, string>();
  /**
   * Number of calls to code of the test that have begun and not ended. Such a call is running, or waits for virtual
   * time.
   */
  #begun = 0;
  #onQuiet: () => void = () => {};
  #isRunning = false;
  #failures: unknown[] = [];

  /** @param patience see {@link PATIENCE} */
  constructor(scheduler: Scheduler, patience = PATIENCE) {
    this.scheduler = scheduler;
    this.#patience = patience;
  }

  /** Records an error of the test. The running `advance()` or `settle()` throws it. */
  fail(cause: unknown): void {
    this.#failures.push(cause);
  }

  /**
   * Runs code of the test.
   * @param what a name for error messages
   */
  async outside<T>(what: string, work: (takes: (span: Millis) => Promise<void>) => T | Promise<T>): Promise<T> {
    const key = Symbol(what);
    const begin = (): unknown => this.#outside.set(key, what);
    const end = (): void => {
      this.#outside.delete(key);
      if (this.#outside.size === 0) this.#onQuiet();
    };
    const takes = async (span: Millis): Promise<void> => {
      if (!this.#outside.has(key))
        throw new TestbedMisused(
          `${what} has ended, or takes virtual time already: call takes() during the call, and await it`,
        );
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

  /** Whether any call to code of the test has begun and not ended. */
  get isAtWork(): boolean {
    return this.#begun > 0;
  }

  /**
   * Runs all planned events until `isDone` returns true or `limit` is reached. Returns whether `isDone` returned true.
   *
   * @throws an error that {@link Pace.fail} has recorded meanwhile; TestbedMisused if time is advancing already
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
        throw new Error(
          `more than ${EVENTS_IN_A_MOMENT} events happened at ${new Date(moment).toISOString()}: something repeats without end`,
        );
      await this.scheduler.step();
    }
    this.scheduler.skipTo(limit);
    return false;
  }

  /**
   * Error for a downstream that calls advance() or settle(), because it would wait for itself. The test gets this error
   * too, not only the downstream.
   */
  #misused(): TestbedMisused {
    const misused = new TestbedMisused(
      'time is advancing already: await advance() or settle() before the next call; in a downstream, use call.takes()',
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
    const since = `no answer within ${this.#patience} ms of real time`;
    return new TestbedMisused(`${since} from ${whose}: to take virtual time, use call.takes()`);
  }
}
