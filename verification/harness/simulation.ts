/** One schedule while it runs: its clock, its random streams, its trace, and the first broken promise. */
import type { Millis } from '../../src/domain/ids.ts';
import { beginLife, type Life } from '../../src/processes/process.ts';
import { Chaos, type ChaosOptions, type FaultPoint } from '../../src/virtual/chaos.ts';
import type { FaultCounts, FaultRates } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { brief, START, seconds } from '../../src/virtual/trace.ts';
import { Violation } from '../../src/virtual/violation.ts';

/** The fields of every scenario. Times are in ms from the start. */
export interface SimulationScenario extends Omit<ChaosOptions, 'rates'> {
  readonly faults: FaultRates;
}

/** The fields of every report of a schedule. */
export interface SimulationReport {
  readonly violation?: Violation;
  readonly faults: FaultCounts;
  readonly happened: readonly FaultPoint[];
  /** The virtual time until the schedule came to rest. */
  readonly took: Millis;
  readonly trace: readonly string[];
}

export class Simulation {
  readonly scheduler = new Scheduler(START);
  readonly chaos: Chaos;
  readonly #trace: string[] = [];
  /** The number of invocations of each function so far. */
  readonly #runs = new Map<string, number>();
  #violation: Violation | undefined;

  /** @param traced whether to record a line for each event */
  constructor({ faults, faultsEnd, outages = [], ...scenario }: SimulationScenario, traced: boolean) {
    const options: ChaosOptions = {
      ...scenario,
      rates: faults,
      faultsEnd: START + faultsEnd,
      outages: outages.map(({ from, until, of }) => ({ from: START + from, until: START + until, of })),
    };
    this.chaos = new Chaos(
      this.scheduler,
      options,
      traced ? (line) => this.#trace.push(`${seconds(this.sinceStart).padStart(10)}  ${line()}`) : () => {},
    );
    this.chaos.onViolation = (violation) => {
      this.#violation ??= violation;
    };
  }

  get sinceStart(): Millis {
    return this.scheduler.now - START;
  }

  get isBroken(): boolean {
    return this.#violation !== undefined;
  }

  /** Begins the next invocation of a function. */
  begin(fn: string, timeout: Millis): Life {
    const run = (this.#runs.get(fn) ?? 0) + 1;
    this.#runs.set(fn, run);
    return beginLife(this.chaos, fn, run, timeout);
  }

  /** Runs a check. Keeps the first broken promise, and writes every broken promise to the trace. */
  checked(check: () => void): void {
    this.judge(check, ({ promise, subject }) => this.chaos.trace(() => `VIOLATION ${promise}: ${brief(subject)}`));
  }

  /**
   * Like {@link checked}, for checks after every write. Broken promises are not written to the trace; the command
   * prints the first one at the end.
   */
  judge(check: () => void, onBroken: (violation: Violation) => void = () => {}): void {
    try {
      check();
    } catch (cause) {
      if (!(cause instanceof Violation)) throw cause;
      onBroken(cause);
      this.chaos.onViolation(cause);
    }
  }

  get report(): SimulationReport {
    return {
      ...(this.#violation ? { violation: this.#violation } : {}),
      faults: this.chaos.counts,
      happened: this.chaos.happened,
      took: this.sinceStart,
      trace: this.#trace,
    };
  }
}
