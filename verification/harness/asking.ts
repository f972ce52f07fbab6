/**
 * A world of people who ask until they are answered, each time by a process of its own, under a virtual clock: of
 * features whose steps no message drives. Ends when nobody wants anything any more, or at the first broken promise.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { emptyTables, type Tables } from '../../src/memory/tables.ts';
import type { Invocation } from '../../src/ports/machine.ts';
import { attempt, beginLife, type Life } from '../../src/processes/process.ts';
import { Chaos, type ChaosOptions, type FaultPoint } from '../../src/virtual/chaos.ts';
import type { FaultCounts, FaultRates } from '../../src/virtual/faults.ts';
import type { Random } from '../../src/virtual/random.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { brief, START, seconds } from '../../src/virtual/trace.ts';
import { demand, Violation } from '../../src/virtual/violation.ts';

export interface AskingScenario {
  readonly seed: number;
  readonly faults: FaultRates;
  /** When faults end, in ms from the start. */
  readonly faultsEnd: Millis;
  /** The faults that happen, instead of some by their rates. */
  readonly script?: readonly FaultPoint[];
}

/** What every report of a schedule says. */
export interface AskingReport {
  readonly violation?: Violation;
  readonly tables: Tables;
  readonly faults: FaultCounts;
  readonly happened: readonly FaultPoint[];
  /** Virtual time until rest. */
  readonly took: Millis;
  readonly trace: readonly string[];
}

/** Whatever has not come to rest by then never will. */
const PATIENCE: Millis = 24 * 60 * MINUTE;
/** How long whoever is asked may take, and how long until he is asked again, at first: the longer the more often. */
const [TIMEOUT, AGAIN]: readonly [Millis, Millis] = [20_000, 3_000];
/** Longer than somebody is paused. */
const LONGEST_PAUSE: Millis = 5 * MINUTE;

export type Step<Deps, T> = (deps: Deps, invocation: Invocation, random: Random) => Promise<T>;

export class Asking<Deps> {
  readonly scheduler = new Scheduler(START);
  readonly tables = emptyTables(() => new Remembered(() => this.scheduler.now));
  readonly chaos: Chaos;
  /** When somebody who wants something did something last, or began to. */
  actedAt: Millis = START;
  /** People who are not done. */
  busy = 0;
  readonly #scenario: AskingScenario;
  readonly #composeFor: (life: Life, tables: Tables) => Deps;
  readonly #trace: string[] = [];
  readonly #processes = new Map<string, number>();
  #restingSince: Millis | undefined;
  #violation: Violation | undefined;

  /** @param composeFor gives a process what its step needs @param traced keeps a line per event */
  constructor(scenario: AskingScenario, traced: boolean, composeFor: (life: Life, tables: Tables) => Deps) {
    this.#scenario = scenario;
    this.#composeFor = composeFor;
    const options: ChaosOptions = { ...scenario, rates: scenario.faults, faultsEnd: START + scenario.faultsEnd };
    this.chaos = new Chaos(
      this.scheduler,
      options,
      traced ? (line) => this.#trace.push(`${seconds(this.scheduler.now - START).padStart(10)}  ${line()}`) : () => {},
    );
    this.chaos.onViolation = (violation) => {
      this.#violation ??= violation;
    };
  }

  /** @param isQuiet whether nothing is to come any more by what is stored @param judge what must hold then */
  async run(isQuiet: () => boolean, judge: () => void): Promise<AskingReport> {
    const isOver = () => this.#violation !== undefined || this.#atRest(isQuiet);
    const ended = await this.scheduler.run(isOver, START + PATIENCE);
    if (!this.#violation)
      this.checked(() => {
        demand(ended, 'the run does not end', [...this.tables.fanOuts.values()]);
        judge();
      });
    return {
      ...(this.#violation ? { violation: this.#violation } : {}),
      tables: this.tables,
      faults: this.chaos.counts,
      happened: this.chaos.happened,
      took: this.scheduler.now - START,
      trace: this.#trace,
    };
  }

  checked(check: () => void): void {
    try {
      check();
    } catch (cause) {
      if (!(cause instanceof Violation)) throw cause;
      this.chaos.trace(() => `VIOLATION ${cause.promise}: ${brief(cause.subject)}`);
      this.chaos.onViolation(cause);
    }
  }

  /** Nobody wants anything any more, nothing is to come, and nobody who was paused is still to go on. */
  #atRest(isQuiet: () => boolean): boolean {
    const { now } = this.scheduler;
    const isStill = this.busy === 0 && now - START > this.#scenario.faultsEnd && isQuiet();
    this.#restingSince = isStill ? (this.#restingSince ?? now) : undefined;
    return this.#restingSince !== undefined && now - this.#restingSince > LONGEST_PAUSE;
  }

  /** A process of its own does something. @returns its answer, or undefined if there is none in time */
  async start<T>(fn: string, timeout: Millis, step: Step<Deps, T>): Promise<{ readonly answer: T } | undefined> {
    const run = (this.#processes.get(fn) ?? 0) + 1;
    this.#processes.set(fn, run);
    const life = beginLife(this.chaos, fn, run, timeout);
    const deps = this.#composeFor(life, this.tables);
    const work = async () => ({ answer: await step(deps, life.invocation, life.random) });
    const tooLate = this.scheduler.wait(timeout).then(() => undefined);
    return Promise.race([attempt(this.chaos, life.name, work, undefined), tooLate]);
  }

  /** Somebody asks until he is answered, or has asked often enough. */
  async ask<T>(fn: string, tries: number, step: Step<Deps, T>): Promise<{ readonly answer: T } | undefined> {
    for (let tried = 0; tried < tries; tried += 1) {
      this.actedAt = this.scheduler.now;
      const answered = await this.start(fn, TIMEOUT, step);
      this.actedAt = this.scheduler.now;
      if (answered) return answered;
      await this.scheduler.wait(AGAIN * 2 ** Math.min(tried, 6));
    }
    return undefined;
  }

  /** The run is not over before this is. */
  async whileBusy(work: () => Promise<void>): Promise<void> {
    this.busy += 1;
    await work();
    this.busy -= 1;
  }

  /** The patrol is there for what somebody left undone who died: without faults there is nothing for it to do. */
  checkRepair(event: object): void {
    const { repeat: _, ...grave } = this.chaos.counts;
    const isCalm = Object.values(grave).every((count) => count === 0);
    const isIdle = this.scheduler.now - this.actedAt > MINUTE;
    this.checked(() => demand(!(isCalm && isIdle), 'nothing is left undone where nothing goes wrong', event));
  }
}
