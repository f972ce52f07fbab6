/**
 * Runs one schedule of fan-outs: the real steps on tables in memory, under a virtual clock. Producers and consumers
 * repeat each request until it is answered; each request runs in a process of its own. The patrol runs each minute. The
 * schedule ends when every fan-out has ended and its rows are deleted, or at the first broken promise.
 */

import type { FanOutId } from '../../src/domain/fan-out-ids.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { memoryLists } from '../../src/memory/lists.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Life } from '../../src/processes/process.ts';
import type { ListDeps } from '../../src/steps/deps.ts';
import { nextLook } from '../../src/steps/fan-outs/patrol.ts';
import { type ClientReport, ClientSimulation, type Step } from '../harness/clients.ts';
import { type Asked, checkAcked, checkAdded, checkSealed, mayGo } from './answers.ts';
import { checkFanOutsAtRest } from './at-rest.ts';
import { Book } from './ledger.ts';
import {
  type ClientRequestOf,
  type Delivery,
  deliveriesOf,
  type FanOutScenario,
  type FanOutSteps,
  STEPS,
} from './scenario.ts';
import { checkFoundInTime, checkHeader, checkNode, LOOK_TIME, type Watched } from './writes.ts';

export interface FanOutReport extends ClientReport {
  readonly books: ReadonlyMap<FanOutId, Book>;
}

/** The extra time of a walk of the patrol, in ms, if the patrol was paused several times during the walk. */
const PAUSED: Millis = 20 * MINUTE;

/**
 * Runs a schedule. The same scenario gives exactly the same report.
 * @param traced whether to record a line for each event
 */
export const runFanOuts = (scenario: FanOutScenario, traced = false): Promise<FanOutReport> =>
  new FanOutWorld(scenario, traced).run();

class FanOutWorld {
  readonly #scenario: FanOutScenario;
  readonly #steps: FanOutSteps;
  readonly #clients: ClientSimulation<ListDeps>;
  readonly #books = new Map<FanOutId, Book>();
  readonly #watched: Watched;

  constructor(scenario: FanOutScenario, traced: boolean) {
    this.#scenario = scenario;
    this.#steps = { ...STEPS, ...scenario.patched?.steps };
    this.#clients = new ClientSimulation(scenario, traced, (life, tables) => this.#depsOf(life, tables));
    this.#watched = this.#watch();
  }

  async run(): Promise<FanOutReport> {
    const clients = this.#clients;
    for (const [n, { id, requests }] of this.#scenario.producers.entries())
      clients.whileBusy(() => clients.want(`producer-${n}`, requests, (request) => this.#stepOf(id, request)));
    clients.patrolEachMinute((deps, mayGoOn) => this.#steps.patrolFanOuts(deps, mayGoOn));
    const report = await clients.run(() => {
      const { callback } = this.#scenario.config.fanOuts;
      checkFanOutsAtRest({
        tables: clients.tables,
        books: this.#books,
        sentCallbacks: clients.sentCallbacks,
        callback,
      });
    });
    return { ...report, books: this.#books };
  }

  #depsOf(life: Life, tables: Tables): ListDeps {
    const { config, nodeSize, patched } = this.#scenario;
    const { gate, lag, machine } = life;
    const { callbacks, report } = this.#clients.portsOf(life);
    const deps: ListDeps = {
      config,
      fanOuts: memoryFanOuts(tables, gate, nodeSize, lag),
      lists: memoryLists(tables, gate, nodeSize),
      queues: { callbacks, register: async () => {} },
      machine,
      report,
    };
    return patched?.deps?.(deps) ?? deps;
  }

  #watch(): Watched {
    const { config, nodeSize, faults } = this.#scenario;
    const { tables, sentCallbacks, chaos, scheduler } = this.#clients;
    const watched = {
      tables,
      policy: config.fanOuts,
      nodeSize,
      sentCallbacks,
      bookOf: (id: FanOutId) => this.#bookOf(id),
      now: () => scheduler.now,
      skew: faults.skew,
      faultCount: () => Object.values(chaos.counts).reduce((sum, count) => sum + count, 0),
      countTime: () => (faults.pause > 0 || faults.hang > 0 ? PAUSED : LOOK_TIME),
      lookTime: () => (chaos.paused.has('patrol') ? PAUSED : LOOK_TIME),
    };
    tables.watcher = {
      fanOut: (before, after) => this.#clients.checked(() => checkHeader(watched, before, after)),
      fanOutNode: (id, position, before, after) =>
        this.#clients.checked(() => checkNode(watched, id, position, before, after)),
    };
    return watched;
  }

  #bookOf(id: FanOutId): Book {
    const book = this.#books.get(id) ?? new Book(this.#scenario.nodeSize);
    this.#books.set(id, book);
    return book;
  }

  #stepOf(id: FanOutId, request: ClientRequestOf): Step<ListDeps, void> {
    switch (request.do) {
      case 'open':
        return (deps) => this.#open(deps, id);
      case 'add':
        return async (deps) => {
          const asked = this.#before(id);
          const answer = await this.#steps.addItems(deps, id, request.count, request.token);
          this.#clients.checked(() => checkAdded(asked(), request.count, request.token, answer));
          if (answer.kind === 'added') this.#consume(id, request.token, answer.groups);
        };
      case 'seal':
        return async (deps) => {
          const asked = this.#before(id, 'seal');
          const answer = await this.#steps.seal(deps, id);
          this.#clients.checked(() => checkSealed(asked(), answer));
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

  async #open({ fanOuts, machine }: ListDeps, id: FanOutId): Promise<void> {
    const { failFast, notifyFirstFailure } = this.#scenario.fanOuts.get(id) ?? {};
    const createdAt = machine.now();
    const wishes = { ...(failFast ? { failFast } : {}), ...(notifyFirstFailure ? { notifyFirstFailure } : {}) };
    await fanOuts.open({ id, createdAt, ...wishes }, nextLook(createdAt, createdAt));
  }

  /** Reads the fan-out before a request. The returned function reads the fan-out again when the request is answered. */
  #before(id: FanOutId, call?: object | 'seal'): () => Asked {
    const wasSaid = call !== undefined && this.#bookOf(id).saidTo.has(call);
    const before = this.#clients.tables.fanOuts.get(id);
    const given = new Set([...this.#bookOf(id).added.values()].flatMap((groups) => groups.split(',')));
    const { keep } = this.#scenario.config.fanOuts;
    return () => {
      const after = this.#clients.tables.fanOuts.get(id);
      const latest = this.#clients.scheduler.now + 2 * this.#scenario.faults.skew;
      return { id, book: this.#bookOf(id), before, after, given, wasSaid, mayGo: mayGo(after, keep, latest) };
    };
  }

  /** Every answer that returns items gives the items to their consumers, also if they were returned before. */
  #consume(id: FanOutId, token: string, groups: Parameters<typeof deliveriesOf>[0]): void {
    const { consumers } = this.#scenario.fanOuts.get(id) ?? {};
    if (!consumers) return;
    const random = this.#clients.chaos.chanceOf(`items of ${token}`);
    for (const [n, delivery] of deliveriesOf(groups, consumers, random).entries())
      this.#clients.whileBusy(() => this.#deliver(id, delivery, `consumer-${token}-${n}`));
  }

  async #deliver(id: FanOutId, delivery: Delivery, name: string): Promise<void> {
    const { scheduler } = this.#clients;
    await scheduler.wait(delivery.at);
    const acks = delivery.items.map(({ outcome, ...item }) => ({ item: { fanOut: id, ...item }, outcome }));
    const step: Step<ListDeps, void> = async (deps) => {
      const asked = this.#before(id, delivery);
      const answer = await this.#steps.ackItems(deps, acks);
      this.#clients.checked(() => {
        checkAcked(asked(), delivery, answer);
        if (delivery.items.some((item) => this.#bookOf(id).has(item))) checkFoundInTime(this.#watched, id);
      });
    };
    const answered = await this.#clients.ask(name, delivery.tries, step);
    if (answered) this.#redrive(id, delivery, name);
    if (!answered || !delivery.again) return;
    await scheduler.wait(delivery.at);
    await this.#clients.ask(name, delivery.tries, step);
  }

  /** T11. Redrives some tasks of the items that failed. Each redrive succeeds, and is acked once or twice. */
  #redrive(id: FanOutId, { items }: Delivery, name: string): void {
    const { redriven = 0 } = this.#scenario.fanOuts.get(id) ?? {};
    const random = this.#clients.chaos.chanceOf(`redrives of ${name}`);
    const book = this.#bookOf(id);
    for (const { group, index } of items) {
      if (book.groups[group]?.done.get(index) !== false || !random.chance(redriven)) continue;
      book.redriven.add(`${group}:${index}`);
      const acks = [{ item: { fanOut: id, group, index }, outcome: 'succeeded' as const, corrects: true }];
      const step: Step<ListDeps, void> = async (deps) => {
        await this.#steps.ackItems(deps, acks);
      };
      const [after, times] = [random.pick([0, 1_000, MINUTE, 20 * MINUTE]), random.pick([1, 1, 2])];
      this.#clients.whileBusy(async () => {
        await this.#clients.scheduler.wait(random.int(0, after));
        for (let time = 0; time < times; time += 1)
          await this.#clients.ask(`redrive-${name}-${group}-${index}`, Number.POSITIVE_INFINITY, step);
      });
    }
  }
}
