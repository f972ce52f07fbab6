/**
 * A simulation of clients that repeat each request until it is answered, under a virtual clock. Each request runs in a
 * process of its own. The simulation serves features whose steps are not started by messages: fan-outs and lists. It
 * ends when all clients are done and the patrol has nothing left to check, or at the first broken promise.
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
  /** The chance that the patrol runs out of time before its next step. */
  readonly hurry: number;
}

/** The fields of every report of a schedule. */
export interface ClientReport extends SimulationReport {
  readonly tables: Tables;
}

/**
 * A request of a client: what to do, the delay in ms after which to do it, the number of attempts until the client
 * gives up for good, and the number of repetitions after an answer.
 */
export interface ClientRequest {
  readonly do: string;
  readonly after: Millis;
  readonly tries: number;
  readonly again: number;
}

/** The longest time until a schedule comes to rest, in ms. A longer schedule is stuck. */
const PATIENCE: Millis = 24 * 60 * MINUTE;
/** The timeout of a request and the delay until it is first repeated, in ms. The delay doubles with each repetition. */
const [TIMEOUT, AGAIN]: readonly [Millis, Millis] = [20_000, 3_000];
/** Longer than any pause of a process. */
const LONGEST_PAUSE: Millis = 5 * MINUTE;

export type Step<Deps, T> = (deps: Deps, invocation: Invocation, random: Random) => Promise<T>;

export class ClientSimulation<Deps> extends Simulation {
  readonly tables = emptyTables(() => new Remembered(() => this.scheduler.now));
  /** Callbacks that were sent. */
  readonly sentCallbacks: CallbackMessage[] = [];
  /** The time at which a client last began or completed a request. */
  #actedAt: Millis = START;
  /** The number of clients that are not done. */
  #busy = 0;
  readonly #scenario: ClientScenario;
  readonly #composeFor: (life: Life, tables: Tables) => Deps;
  #restingSince: Millis | undefined;

  /**
   * @param composeFor gives a process the ports that its step needs
   * @param traced whether to record a line for each event
   */
  constructor(scenario: ClientScenario, traced: boolean, composeFor: (life: Life, tables: Tables) => Deps) {
    super(scenario, traced);
    this.#scenario = scenario;
    this.#composeFor = composeFor;
  }

  /** @param judge checks the promises at the end */
  async run(judge: () => void): Promise<ClientReport> {
    const ended = await this.scheduler.run(() => this.isBroken || this.#atRest(), START + PATIENCE);
    if (!this.isBroken)
      this.checked(() => {
        demand(ended, 'the schedule comes to rest', [...this.tables.fanOuts.values()]);
        judge();
      });
    return { ...this.report, tables: this.tables };
  }

  /** Whether all clients are done, the patrol has nothing to check, and every paused process has continued. */
  #atRest(): boolean {
    const isLookedAt = [...this.tables.fanOuts.values()].some(({ checkAt }) => checkAt !== undefined);
    const isStill = this.#busy === 0 && this.sinceStart > this.#scenario.faultsEnd && !isLookedAt;
    const { now } = this.scheduler;
    this.#restingSince = isStill ? (this.#restingSince ?? now) : undefined;
    return this.#restingSince !== undefined && now - this.#restingSince > LONGEST_PAUSE;
  }

  /** The ports that every process has, for sending callbacks and reporting repairs. */
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

  /** Runs a step in a new process. @returns the answer, or undefined if none arrived within the timeout */
  async start<T>(fn: string, timeout: Millis, step: Step<Deps, T>): Promise<{ readonly answer: T } | undefined> {
    const life = this.begin(fn, timeout);
    const deps = this.#composeFor(life, this.tables);
    const work = async () => ({ answer: await step(deps, life.invocation, life.random) });
    const tooLate = this.scheduler.wait(timeout).then(() => undefined);
    return Promise.race([attempt(this.chaos, life.name, work, undefined), tooLate]);
  }

  /** Repeats a client's request until it is answered, or until the number of attempts is used up. */
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

  /**
   * Makes the requests of a client one after another. If a request is never answered, the client makes no further
   * requests.
   */
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

  /** @param patrol a patrol, which may continue while `mayGoOn` is true */
  patrolEachMinute(patrol: (deps: Deps, mayGoOn: () => boolean) => Promise<void>): void {
    const { hurry } = this.#scenario;
    this.start('patrol', MINUTE, (deps, { timeLeft }, random) =>
      patrol(deps, () => timeLeft() > 5_000 && !random.chance(hurry)),
    );
    this.scheduler.after(MINUTE, () => this.patrolEachMinute(patrol));
  }

  /** Runs `work`. The simulation does not end before `work` has ended. */
  async whileBusy(work: () => Promise<void>): Promise<void> {
    this.#busy += 1;
    await work();
    this.#busy -= 1;
  }

  /** The patrol repairs what dead processes left unfinished. Without faults there must be nothing to repair. */
  #checkRepair(event: object): void {
    const { repeat: _, ...grave } = this.chaos.counts;
    const isCalm = Object.values(grave).every((count) => count === 0);
    const isIdle = this.scheduler.now - this.#actedAt > MINUTE;
    this.checked(() => demand(!(isCalm && isIdle), 'without faults the patrol repairs nothing', event));
  }
}
