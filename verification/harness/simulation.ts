/** One schedule as it runs: its clock, its chances, what is told of it, and the first promise that it finds broken. */
import type { Millis } from '../../src/domain/ids.ts';
import { beginLife, type Life } from '../../src/processes/process.ts';
import { Chaos, type ChaosOptions, type FaultPoint } from '../../src/virtual/chaos.ts';
import type { FaultCounts, FaultRates } from '../../src/virtual/faults.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { brief, START, seconds } from '../../src/virtual/trace.ts';
import { Violation } from '../../src/virtual/violation.ts';

/** What every scenario says. Moments are in ms from the start. */
export interface SimulationScenario extends Omit<ChaosOptions, 'rates'> {
  readonly faults: FaultRates;
}

/** What every report of a schedule says. */
export interface SimulationReport {
  readonly violation?: Violation;
  readonly faults: FaultCounts;
  readonly happened: readonly FaultPoint[];
  /** Virtual time until rest. */
  readonly took: Millis;
  readonly trace: readonly string[];
}

export class Simulation {
  readonly scheduler = new Scheduler(START);
  readonly chaos: Chaos;
  readonly #trace: string[] = [];
  /** Runs of each function so far. */
  readonly #runs = new Map<string, number>();
  #violation: Violation | undefined;

  /** @param traced keeps a line per event */
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

  /** Begins the next run of a function. */
  begin(fn: string, timeout: Millis): Life {
    const run = (this.#runs.get(fn) ?? 0) + 1;
    this.#runs.set(fn, run);
    return beginLife(this.chaos, fn, run, timeout);
  }

  /** Keeps the first promise that checks find broken, and traces each. */
  checked(check: () => void): void {
    this.judge(check, ({ promise, subject }) => this.chaos.trace(() => `VIOLATION ${promise}: ${brief(subject)}`));
  }

  /** The same for checks after every write: the trace leaves it to its reader to name the first one in the end. */
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
