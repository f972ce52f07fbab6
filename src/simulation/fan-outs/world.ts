/**
 * One schedule of fan-outs: the real steps on tables in memory, under a virtual clock. Producers and consumers ask until
 * they are answered, each time by a process of its own; the patrol comes each minute. Ends when every fan-out has ended and
 * its rows are gone, or at the first broken promise.
 */
import type { Millis } from '../../batching/ids.ts';
import { MINUTE } from '../../batching/timings.ts';
import type { CallbackMessage } from '../../callbacks/callback.ts';
import type { FanOutId } from '../../fan-out/ids.ts';
import { nextLook, type PatrolDeps } from '../../fan-out/patrol.ts';
import type { Invocation } from '../../ports.ts';
import { Chaos, type FaultPoint } from '../chaos.ts';
import type { FaultCounts } from '../faults.ts';
import { through } from '../gate.ts';
import { demand, Violation } from '../invariants.ts';
import { memoryFanOuts } from '../memory-fan-outs.ts';
import { memoryLists } from '../memory-lists.ts';
import { attempt, beginLife } from '../process.ts';
import type { Random } from '../random.ts';
import { Remembered } from '../remembered.ts';
import { Scheduler } from '../scheduler.ts';
import { emptyTables, type Tables } from '../tables.ts';
import { brief, START, seconds } from '../trace.ts';
import { type Asked, checkAcked, checkAdded, checkSealed, mayGo } from './answers.ts';
import { checkFanOutsAtRest } from './at-rest.ts';
import { Book } from './ledger.ts';
import { type Delivery, deliveriesOf, type FanOutScenario, type Producer, type Wish } from './scenario.ts';
import { type FanOutSteps, STEPS } from './steps.ts';
import { checkHeader, checkNode, LOOK_TIME } from './writes.ts';

export interface FanOutReport {
  readonly violation?: Violation;
  readonly tables: Tables;
  readonly books: ReadonlyMap<FanOutId, Book>;
  readonly faults: FaultCounts;
  readonly happened: readonly FaultPoint[];
  /** Virtual time until rest. */
  readonly took: Millis;
  readonly trace: readonly string[];
}

/** Whatever has not come to rest by then never will. */
const PATIENCE: Millis = 24 * 60 * MINUTE;
/** How long whoever acks or adds may take, and how long until he is asked again, at first: the longer the more often. */
const [TIMEOUT, AGAIN]: readonly [Millis, Millis] = [20_000, 3_000];
/** Longer than somebody is paused. */
const LONGEST_PAUSE: Millis = 5 * MINUTE;
/** What one look may take longer where the patrol was paused in it, some times. */
const PAUSED: Millis = 20 * MINUTE;

/** Runs a schedule. The same scenario gives the same report, to the letter. @param traced keeps a line per event. */
export const runFanOuts = (scenario: FanOutScenario, traced = false): Promise<FanOutReport> =>
  new FanOutWorld(scenario, traced).run();

type Step<T> = (deps: PatrolDeps, invocation: Invocation, random: Random) => Promise<T>;

class FanOutWorld {
  readonly #scenario: FanOutScenario;
  readonly #steps: FanOutSteps;
  readonly #scheduler = new Scheduler(START);
  readonly #tables = emptyTables(() => new Remembered(() => this.#scheduler.now));
  readonly #books = new Map<FanOutId, Book>();
  readonly #told: CallbackMessage[] = [];
  readonly #trace: string[] = [];
  readonly #chaos: Chaos;
  readonly #processes = new Map<string, number>();
  /** When a producer or a consumer did something last. */
  #actedAt: Millis = START;
  /** Producers and consumers who are not done. */
  #busy = 0;
  #restingSince: Millis | undefined;
  #violation: Violation | undefined;

  constructor(scenario: FanOutScenario, traced: boolean) {
    this.#scenario = scenario;
    this.#steps = { ...STEPS, ...scenario.patched?.steps };
    this.#chaos = new Chaos(
      this.#scheduler,
      { ...scenario, rates: scenario.faults, faultsEnd: START + scenario.faultsEnd },
      traced ? (line) => this.#trace.push(`${seconds(this.#scheduler.now - START).padStart(10)}  ${line()}`) : () => {},
    );
    this.#chaos.onViolation = (violation) => {
      this.#violation ??= violation;
    };
    this.#watch();
  }

  async run(): Promise<FanOutReport> {
    for (const [n, producer] of this.#scenario.producers.entries()) this.#produce(producer, `producer-${n}`);
    this.#patrolEachMinute();
    const ended = await this.#scheduler.run(() => this.#violation !== undefined || this.#atRest(), START + PATIENCE);
    if (!this.#violation)
      this.#checked(() => {
        demand(ended, 'the run does not end', [...this.#tables.fanOuts.values()]);
        const { callback } = this.#scenario.config.fanOuts;
        checkFanOutsAtRest({ tables: this.#tables, books: this.#books, told: this.#told, callback });
      });
    return {
      ...(this.#violation ? { violation: this.#violation } : {}),
      tables: this.#tables,
      books: this.#books,
      faults: this.#chaos.counts,
      happened: this.#chaos.happened,
      took: this.#scheduler.now - START,
      trace: this.#trace,
    };
  }

  #checked(check: () => void): void {
    try {
      check();
    } catch (cause) {
      if (!(cause instanceof Violation)) throw cause;
      this.#chaos.trace(() => `VIOLATION ${cause.promise}: ${brief(cause.subject)}`);
      this.#chaos.onViolation(cause);
    }
  }

  #watch(): void {
    const { config, nodeSize, faults } = this.#scenario;
    const watched = {
      tables: this.#tables,
      policy: config.fanOuts,
      nodeSize,
      told: this.#told,
      bookOf: (id: FanOutId) => this.#bookOf(id),
      now: () => this.#scheduler.now,
      skew: faults.skew,
      lookTime: () => (this.#chaos.paused.has('patrol') ? PAUSED : LOOK_TIME),
    };
    this.#tables.watcher = {
      fanOut: (before, after) => this.#checked(() => checkHeader(watched, before, after)),
      fanOutNode: (id, position, before, after) => this.#checked(() => checkNode(watched, id, position, before, after)),
    };
  }

  #bookOf(id: FanOutId): Book {
    const book = this.#books.get(id) ?? new Book(this.#scenario.nodeSize);
    this.#books.set(id, book);
    return book;
  }

  /** Nobody wants anything any more, the patrol has nothing to look at, and nobody who was paused is still to come. */
  #atRest(): boolean {
    const { now } = this.#scheduler;
    const isQuiet =
      this.#busy === 0 &&
      now - START > this.#scenario.faultsEnd &&
      [...this.#tables.fanOuts.values()].every(({ checkAt }) => checkAt === undefined);
    this.#restingSince = isQuiet ? (this.#restingSince ?? now) : undefined;
    return this.#restingSince !== undefined && now - this.#restingSince > LONGEST_PAUSE;
  }

  /** A process of its own does something. @returns its answer, or undefined if there is none in time */
  async #start<T>(fn: string, timeout: Millis, step: Step<T>): Promise<{ readonly answer: T } | undefined> {
    const run = (this.#processes.get(fn) ?? 0) + 1;
    this.#processes.set(fn, run);
    const { name, gate, random, lag, machine, report, invocation } = beginLife(this.#chaos, fn, run, timeout);
    const deps: PatrolDeps = {
      config: this.#scenario.config,
      fanOuts: memoryFanOuts(this.#tables, gate, this.#scenario.nodeSize, lag),
      lists: memoryLists(this.#tables, gate, this.#scenario.nodeSize),
      queues: {
        callbacks: (messages) =>
          through(gate, 'queues.callbacks', () => {
            this.#told.push(...messages);
          }),
      },
      machine,
      report: (event) => {
        report(event);
        if (event.event === 'fan-out-repaired') this.#checked(() => this.#checkRepair(event));
      },
    };
    const patched = this.#scenario.patched?.deps?.(deps) ?? deps;
    const work = async () => ({ answer: await step(patched, invocation, random) });
    const tooLate = this.#scheduler.wait(timeout).then(() => undefined);
    return Promise.race([attempt(this.#chaos, name, work, undefined), tooLate]);
  }

  /** The patrol is there for what somebody left undone who died: without faults there is nothing for it to do. */
  #checkRepair(event: object): void {
    const { repeat: _, ...grave } = this.#chaos.counts;
    const isCalm = Object.values(grave).every((count) => count === 0);
    const isIdle = this.#scheduler.now - this.#actedAt > MINUTE;
    demand(!(isCalm && isIdle), 'nothing is left undone where nothing goes wrong', event);
  }

  /** Somebody asks until he is answered, or has asked often enough. */
  async #ask<T>(fn: string, tries: number, step: Step<T>): Promise<{ readonly answer: T } | undefined> {
    for (let tried = 0; tried < tries; tried += 1) {
      const answered = await this.#start(fn, TIMEOUT, step);
      this.#actedAt = this.#scheduler.now;
      if (answered) return answered;
      await this.#scheduler.wait(AGAIN * 2 ** Math.min(tried, 6));
    }
    return undefined;
  }

  /** Has his wishes one after the other; whoever is not answered for long enough is gone for good. */
  async #produce({ id, wishes }: Producer, name: string): Promise<void> {
    this.#busy += 1;
    for (const wish of wishes) {
      await this.#scheduler.wait(wish.after);
      const step = this.#stepOf(id, wish);
      let isAnswered = true;
      for (let time = 0; time <= wish.again && isAnswered; time += 1)
        isAnswered = (await this.#ask(`${name}-${wish.do}`, wish.tries, step)) !== undefined;
      if (!isAnswered) break;
    }
    this.#busy -= 1;
  }

  #stepOf(id: FanOutId, wish: Wish): Step<void> {
    switch (wish.do) {
      case 'open':
        return (deps) => this.#open(deps, id);
      case 'add':
        return async (deps) => {
          const asked = this.#asking(id);
          const answer = await this.#steps.addItems(deps, id, wish.count, wish.token);
          this.#checked(() => checkAdded(asked(), wish.count, wish.token, answer));
          if (answer.kind === 'added') this.#consume(id, wish.token, answer.groups);
        };
      case 'seal':
        return async (deps) => {
          const asked = this.#asking(id, 'seal');
          const answer = await this.#steps.seal(deps, id);
          this.#checked(() => checkSealed(asked(), answer));
        };
      case 'delete':
        return async (deps) => {
          const fanOut = await deps.fanOuts.read(id);
          if (!fanOut) return;
          await this.#steps.discard(deps, fanOut);
          await this.#steps.visit(deps, id, () => true);
        };
    }
  }

  async #open({ fanOuts, machine }: PatrolDeps, id: FanOutId): Promise<void> {
    const { failFast } = this.#scenario.fanOuts.get(id) ?? {};
    const createdAt = machine.now();
    await fanOuts.open({ id, createdAt, ...(failFast ? { failFast } : {}) }, nextLook(createdAt, createdAt));
  }

  /** A fan-out as it is now, to be compared with how it is when the answer comes. */
  #asking(id: FanOutId, call?: object | 'seal'): () => Asked {
    const wasSaid = call !== undefined && this.#bookOf(id).saidTo.has(call);
    const before = this.#tables.fanOuts.get(id);
    const given = new Set([...this.#bookOf(id).added.values()].flatMap((groups) => groups.split(',')));
    const { keep } = this.#scenario.config.fanOuts;
    return () => {
      const after = this.#tables.fanOuts.get(id);
      const latest = this.#scheduler.now + 2 * this.#scenario.faults.skew;
      return { id, book: this.#bookOf(id), before, after, given, wasSaid, mayGo: mayGo(after, keep, latest) };
    };
  }

  /** Items reach their consumers once for each answer that gave them out. */
  #consume(id: FanOutId, token: string, groups: Parameters<typeof deliveriesOf>[0]): void {
    const { consumers } = this.#scenario.fanOuts.get(id) ?? {};
    if (!consumers) return;
    const random = this.#chaos.chanceOf(`items of ${token}`);
    for (const [n, delivery] of deliveriesOf(groups, consumers, random).entries())
      this.#deliver(id, delivery, `consumer-${token}-${n}`);
  }

  async #deliver(id: FanOutId, delivery: Delivery, name: string): Promise<void> {
    this.#busy += 1;
    await this.#scheduler.wait(delivery.at);
    const acks = delivery.items.map(({ outcome, ...item }) => ({ item: { fanOut: id, ...item }, outcome }));
    const step: Step<void> = async (deps) => {
      const asked = this.#asking(id, delivery);
      const answer = await this.#steps.ackItems(deps, acks);
      this.#checked(() => checkAcked(asked(), delivery, answer));
    };
    const answered = await this.#ask(name, delivery.tries, step);
    if (answered && delivery.again) {
      await this.#scheduler.wait(delivery.at);
      await this.#ask(name, delivery.tries, step);
    }
    this.#busy -= 1;
  }

  #patrolEachMinute(): void {
    const { hurry } = this.#scenario;
    this.#start('patrol', MINUTE, (deps, { timeLeft }, random) =>
      this.#steps.patrolFanOuts(deps, () => timeLeft() > 5_000 && !random.chance(hurry)),
    );
    this.#scheduler.after(MINUTE, () => this.#patrolEachMinute());
  }
}
