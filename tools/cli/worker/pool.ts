/** The processes that work on the jobs of a list. Each process has one job at a time. */
import { rest } from '../../../src/client/ask-api.ts';
import type { Millis } from '../../../src/domain/ids.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import type { WorkerProcess } from './process.ts';

/** Shortest and longest pause before a process replaces one that ended without having done a job, in milliseconds. */
const [PAUSE_MIN, PAUSE_MAX]: readonly [Millis, Millis] = [1_000, 60_000];
/** After so many consecutive failed starts, the program counts as broken. */
const STARTS = 4;

export class WorkerPool {
  readonly #start: (signal: AbortSignal) => Promise<WorkerProcess>;
  readonly #onBroken: (cause: unknown) => void;
  readonly #idle: WorkerProcess[];
  #pause: Millis = 0;
  /** When the pause last grew. Processes started before do not make it grow again: many may end at once. */
  #grownAt = 0;
  #failedStarts = 0;

  /** @param first a process that has started. @param onBroken called if the program cannot be started any more */
  constructor(
    first: WorkerProcess,
    start: (signal: AbortSignal) => Promise<WorkerProcess>,
    onBroken: (cause: unknown) => void,
  ) {
    this.#idle = [first];
    this.#start = start;
    this.#onBroken = onBroken;
  }

  /**
   * An idle process, or a new one.
   * @throws the reason of the signal; the error of the start if the program is broken
   */
  async take(signal: AbortSignal): Promise<WorkerProcess> {
    for (;;) {
      const idle = this.#idle.pop();
      if (!idle) return this.takeNew(signal);
      if (idle.isLiving) return idle;
    }
  }

  /** A new process. @throws as {@link take} does */
  async takeNew(signal: AbortSignal): Promise<WorkerProcess> {
    for (;;) {
      await rest(this.#pause, signal);
      signal.throwIfAborted();
      const since = performance.now();
      try {
        const started = await this.#start(signal);
        this.#failedStarts = 0;
        return started;
      } catch (cause) {
        signal.throwIfAborted();
        if (!this.#grow(since)) continue;
        this.#failedStarts += 1;
        console.error(`A worker process could not start: ${reasonOf(cause)}.`);
        if (this.#failedStarts < STARTS) continue;
        this.#onBroken(cause);
        throw cause;
      }
    }
  }

  /** Takes back a process that has answered its job. */
  giveBack(worker: WorkerProcess): void {
    worker.hasWorked = true;
    this.#pause = 0;
    this.#idle.push(worker);
  }

  /** A process has ended during a job. */
  lose({ hasWorked, since }: WorkerProcess): void {
    if (!hasWorked) this.#grow(since);
  }

  /** Ends the idle processes. */
  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((each) => each.close()));
  }

  #grow(since: number): boolean {
    if (since < this.#grownAt) return false;
    this.#pause = Math.min(PAUSE_MAX, Math.max(PAUSE_MIN, 2 * this.#pause));
    this.#grownAt = performance.now();
    return true;
  }
}
