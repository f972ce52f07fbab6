/**
 * Ends the process of a local stack on Ctrl-C. In order, it is
 *
 * - starting: nothing is under way, so a signal ends the process at once. The engines end with it (`child.ts`).
 * - running: a signal begins to stop the stack, which finishes the work under way first.
 * - stopping: a further signal ends the process without waiting. The next start resumes the work.
 */

/** A signal this soon after the first, in ms, belongs to the same key press: npm passes on what the terminal sent too. */
const SAME_PRESS = 1_000;

export class Stopping {
  #stopAll: (() => Promise<void>) | undefined;
  /** When the first signal arrived, in ms of a monotonic clock. */
  #since: number | undefined;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.#onSignal());
  }

  /** From now on, a signal runs this function before the process ends. */
  running(stopAll: () => Promise<void>): void {
    this.#stopAll = stopAll;
  }

  /** Stops everything because the stack cannot work any more, and ends the process with status 1. */
  async fail(message: string): Promise<void> {
    console.error(message);
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    await this.#stopAll?.();
    process.exit(1);
  }

  #onSignal(): void {
    if (this.#since !== undefined) {
      if (performance.now() - this.#since < SAME_PRESS) return;
      console.log('Stopped. The work under way was not finished.');
      process.exit(0);
    }
    this.#since = performance.now();
    if (this.#stopAll) console.log('\nFinishing the work under way … (press Ctrl-C again to stop now)');
    void (this.#stopAll ?? (async () => {}))().then(() => {
      console.log('Stopped.');
      process.exit(0);
    });
  }
}
