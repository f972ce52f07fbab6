/**
 * The work of a host of a baseline on the partitions that the host counts as its own. With Groupage, nodes do the same
 * work.
 */
import type { Millis } from '../../../src/domain/ids.ts';
import type { Scheduler } from '../../../src/virtual/scheduler.ts';
import type { Ledger } from '../../../verification/fleets/ledger.ts';
import type { SimulatedProcess } from '../../../verification/fleets/process.ts';

/**
 * The duration of a unit of work, and the extra time of an overloaded host for each factor by which it is slower, in
 * milliseconds.
 */
const [UNIT, OVERHEAD]: readonly [Millis, Millis] = [500, 20];
/** The number of units per checkpoint: one checkpoint a second. */
const UNITS = 2;

interface Working {
  isEnding: boolean;
  readonly ended: PromiseWithResolvers<void>;
}

export class PlainWork {
  readonly #process: SimulatedProcess;
  readonly #scheduler: Scheduler;
  readonly #ledger: Ledger;
  readonly #onCheckpoint: (partition: string) => void;
  readonly #working = new Map<string, Working>();

  /**
   * @param onCheckpoint called when a checkpoint reaches the store, which accepts checkpoints from any host because
   * there is no fence
   */
  constructor(
    process: SimulatedProcess,
    scheduler: Scheduler,
    ledger: Ledger,
    onCheckpoint: (partition: string) => void,
  ) {
    this.#process = process;
    this.#scheduler = scheduler;
    this.#ledger = ledger;
    this.#onCheckpoint = onCheckpoint;
  }

  begin(partition: string): void {
    this.#ledger.acquired(partition, this.#process.name, this.#scheduler.now);
    const working: Working = { isEnding: false, ended: Promise.withResolvers() };
    this.#working.set(partition, working);
    void this.#work(partition, working);
  }

  /** Resolves when the current unit of work has ended. */
  end(partition: string): Promise<void> {
    const working = this.#working.get(partition);
    if (working === undefined) return Promise.resolve();
    working.isEnding = true;
    this.#working.delete(partition);
    return working.ended.promise;
  }

  async #work(partition: string, working: Working): Promise<void> {
    for (let units = 1; !working.isEnding; units += 1) {
      await this.#unit(partition);
      // If storing a checkpoint fails, the next checkpoint includes its progress.
      if (units % UNITS === 0)
        await this.#process.gate('checkpoint', [() => this.#onCheckpoint(partition)]).catch(orFailed);
    }
    working.ended.resolve();
  }

  #unit(partition: string): Promise<void> {
    return this.#process.work(UNIT + OVERHEAD * (this.#process.times - 1), (from, to) => {
      if (to > from) this.#ledger.worked({ partition, node: this.#process.name, from, to });
    });
  }
}

/** @throws the error, unless it is a failed call that the scenario causes */
export const orFailed = (cause: unknown): undefined => {
  if (cause instanceof Error && cause.name === 'SimulatedFailure') return undefined;
  throw cause;
};
