/**
 * A world of people who ask until they are answered, each time by a process of its own, under a virtual clock: of
 * features whose steps no message drives. Ends when nobody wants anything any more, or at the first broken promise.
 */
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { emptyTables, type Tables } from '../../src/memory/tables.ts';
import type { Invocation } from '../../src/ports/machine.ts';
import { attempt, type Life } from '../../src/processes/process.ts';
import { through } from '../../src/virtual/gate.ts';
import type { Random } from '../../src/virtual/random.ts';
import { START } from '../../src/virtual/trace.ts';
import { demand } from '../../src/virtual/violation.ts';
import { Simulation, type SimulationReport, type SimulationScenario } from './simulation.ts';

export interface ClientScenario extends SimulationScenario {
  /** How often the patrol is out of time before its next step. */
  readonly hurry: number;
}

/** What every report of a schedule says. */
export interface ClientReport extends SimulationReport {
  readonly tables: Tables;
}

/** One thing that somebody wants, when, how often he asks until he gives up for good, and how often more once he was answered. */
export interface ClientRequest {
  readonly do: string;
  readonly after: Millis;
  readonly tries: number;
  readonly again: number;
}

/** Whatever has not come to rest by then never will. */
const PATIENCE: Millis = 24 * 60 * MINUTE;
/** How long whoever is asked may take, and how long until he is asked again, at first: the longer the more often. */
const [TIMEOUT, AGAIN]: readonly [Millis, Millis] = [20_000, 3_000];
/** Longer than somebody is paused. */
const LONGEST_PAUSE: Millis = 5 * MINUTE;

export type Step<Deps, T> = (deps: Deps, invocation: Invocation, random: Random) => Promise<T>;

export class ClientSimulation<Deps> extends Simulation {
  readonly tables = emptyTables(() => new Remembered(() => this.scheduler.now));
  /** What initiators were told. */
  readonly sentCallbacks: CallbackMessage[] = [];
  /** When somebody who wants something did something last, or began to. */
  #actedAt: Millis = START;
  /** People who are not done. */
  #busy = 0;
  readonly #scenario: ClientScenario;
  readonly #composeFor: (life: Life, tables: Tables) => Deps;
  #restingSince: Millis | undefined;

  /** @param composeFor gives a process what its step needs @param traced keeps a line per event */
  constructor(scenario: ClientScenario, traced: boolean, composeFor: (life: Life, tables: Tables) => Deps) {
    super(scenario, traced);
    this.#scenario = scenario;
    this.#composeFor = composeFor;
  }

  /** @param judge what must hold in the end */
  async run(judge: () => void): Promise<ClientReport> {
    const ended = await this.scheduler.run(() => this.isBroken || this.#atRest(), START + PATIENCE);
    if (!this.isBroken)
      this.checked(() => {
        demand(ended, 'the run does not end', [...this.tables.fanOuts.values()]);
        judge();
      });
    return { ...this.report, tables: this.tables };
  }

  /** Nobody wants anything any more, the patrol has nothing to look at, and nobody who was paused is still to go on. */
  #atRest(): boolean {
    const isLookedAt = [...this.tables.fanOuts.values()].some(({ checkAt }) => checkAt !== undefined);
    const isStill = this.#busy === 0 && this.sinceStart > this.#scenario.faultsEnd && !isLookedAt;
    const { now } = this.scheduler;
    this.#restingSince = isStill ? (this.#restingSince ?? now) : undefined;
    return this.#restingSince !== undefined && now - this.#restingSince > LONGEST_PAUSE;
  }

  /** What every process has: it notifies, and reports what it repaired. */
  portsOf({ gate, report }: Life) {
    return {
      callbacks: (messages: readonly CallbackMessage[]): Promise<void> =>
        through(gate, 'queues.callbacks', () => {
          this.sentCallbacks.push(...messages);
        }),
      report: (event: Parameters<typeof report>[0]): void => {
        report(event);
        if (event.event === 'fan-out-repaired') this.#checkRepair(event);
      },
    };
  }

  /** A process of its own does something. @returns its answer, or undefined if there is none in time */
  async start<T>(fn: string, timeout: Millis, step: Step<Deps, T>): Promise<{ readonly answer: T } | undefined> {
    const life = this.begin(fn, timeout);
    const deps = this.#composeFor(life, this.tables);
    const work = async () => ({ answer: await step(deps, life.invocation, life.random) });
    const tooLate = this.scheduler.wait(timeout).then(() => undefined);
    return Promise.race([attempt(this.chaos, life.name, work, undefined), tooLate]);
  }

  /** Somebody asks until he is answered, or has asked often enough. */
  async ask<T>(fn: string, tries: number, step: Step<Deps, T>): Promise<{ readonly answer: T } | undefined> {
    for (let tried = 0; tried < tries; tried += 1) {
      this.#actedAt = this.scheduler.now;
      const answered = await this.start(fn, TIMEOUT, step);
      this.#actedAt = this.scheduler.now;
      if (answered) return answered;
      await this.scheduler.wait(AGAIN * 2 ** Math.min(tried, 6));
    }
    return undefined;
  }

  /** Somebody has his wishes one after the other; if he is not answered for long enough he is gone for good. */
  async want<ClientRequestOf extends ClientRequest>(
    name: string,
    requests: readonly ClientRequestOf[],
    stepOf: (request: ClientRequestOf) => Step<Deps, void>,
  ): Promise<void> {
    for (const request of requests) {
      await this.scheduler.wait(request.after);
      for (let time = 0; time <= request.again; time += 1)
        if (!(await this.ask(`${name}-${request.do}`, request.tries, stepOf(request)))) return;
    }
  }

  /** @param patrol may go on for as long as it has time */
  patrolEachMinute(patrol: (deps: Deps, mayGoOn: () => boolean) => Promise<void>): void {
    const { hurry } = this.#scenario;
    this.start('patrol', MINUTE, (deps, { timeLeft }, random) =>
      patrol(deps, () => timeLeft() > 5_000 && !random.chance(hurry)),
    );
    this.scheduler.after(MINUTE, () => this.patrolEachMinute(patrol));
  }

  /** The run is not over before this is. */
  async whileBusy(work: () => Promise<void>): Promise<void> {
    this.#busy += 1;
    await work();
    this.#busy -= 1;
  }

  /** The patrol is there for what somebody left undone who died: without faults there is nothing for it to do. */
  #checkRepair(event: object): void {
    const { repeat: _, ...grave } = this.chaos.counts;
    const isCalm = Object.values(grave).every((count) => count === 0);
    const isIdle = this.scheduler.now - this.#actedAt > MINUTE;
    this.checked(() => demand(!(isCalm && isIdle), 'nothing is left undone where nothing goes wrong', event));
  }
}
