/**
 * Runs one schedule of deferred lists: the real steps on tables in memory, under a virtual clock, including the step
 * that registers tasks. Clients add, trigger and seal. Workers claim, die, renew and give back. The simulation ends
 * tasks, and the patrol runs each minute. At the end each list is sealed, and workers claim its jobs until the list is
 * complete, cancelled or deleted. After that no rows may be left.
 */

import type { Token } from '../../src/domain/ids.ts';
import { type ListId, listOf, trackerOf } from '../../src/domain/lists/ids.ts';
import type { List } from '../../src/domain/lists/list.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { memoryBatches } from '../../src/memory/batches.ts';
import { memoryFanOuts } from '../../src/memory/fan-outs.ts';
import { memoryLists } from '../../src/memory/lists.ts';
import { memoryLocks } from '../../src/memory/locks.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { memoryTasks } from '../../src/memory/tasks.ts';
import { memoryWaiting } from '../../src/memory/waiting.ts';
import type { Lists } from '../../src/ports/lists.ts';
import type { Life } from '../../src/processes/process.ts';
import type { RegisterDeps } from '../../src/steps/deps.ts';
import { rememberedItemKeys } from '../../src/steps/fan-outs/item-keys.ts';
import { nextLook } from '../../src/steps/fan-outs/patrol.ts';
import type { Wanted } from '../../src/steps/lists/trigger.ts';
import { InjectedFault } from '../../src/virtual/faults.ts';
import { through } from '../../src/virtual/gate.ts';
import { type ClientReport, ClientSimulation, type Step } from '../harness/clients.ts';
import { type Asked, checkAppended, checkBroken, checkTriggered } from './answers.ts';
import { checkListsAtRest } from './at-rest.ts';
import { Book, payloadOf } from './ledger.ts';
import { PullingWorker } from './pulling-worker.ts';
import { type ClientRequestOf, type ListPlan, type ListScenario, OPERATION } from './scenario.ts';
import { busyOr, type ListSteps, STEPS } from './steps.ts';
import { checkApart, checkList, checkTask, checkTracker } from './writes.ts';

export interface ListReport extends ClientReport {
  readonly books: ReadonlyMap<ListId, Book>;
}

const ALWAYS = Number.POSITIVE_INFINITY;

/**
 * Runs a schedule. The same scenario gives exactly the same report.
 * @param traced whether to record a line for each event
 */
export const runLists = (scenario: ListScenario, traced = false): Promise<ListReport> =>
  new ListWorld(scenario, traced).run();

class ListWorld {
  readonly #scenario: ListScenario;
  readonly #steps: ListSteps;
  readonly #clients: ClientSimulation<RegisterDeps>;
  readonly #books = new Map<ListId, Book>();
  /** The number of clients and workers of each list that are not done. */
  readonly #active = new Map<ListId, number>();
  #messages = 0;

  constructor(scenario: ListScenario, traced: boolean) {
    this.#scenario = scenario;
    this.#steps = { ...STEPS, ...scenario.patched?.steps };
    this.#clients = new ClientSimulation(scenario, traced, (life, tables) => this.#depsOf(life, tables));
    this.#watch();
  }

  async run(): Promise<ListReport> {
    const clients = this.#clients;
    for (const plan of this.#scenario.lists) this.#startList(plan);
    clients.patrolEachMinute((deps, mayGoOn) => this.#steps.patrolFanOuts(deps, mayGoOn));
    const report = await clients.run(() => {
      const { callback } = this.#scenario.config.lists;
      const { tables, sentCallbacks } = clients;
      checkListsAtRest({ tables, books: this.#books, sentCallbacks, callback, messages: this.#messages });
    });
    return { ...report, books: this.#books };
  }

  #depsOf(life: Life, tables: Tables): RegisterDeps {
    const { config, nodeSize, pageBytes, claimsMax, patched } = this.#scenario;
    const { gate, lag, machine } = life;
    const { callbacks, report } = this.#clients.portsOf(life);
    const nothing = async (): Promise<void> => {};
    const fanOuts = memoryFanOuts(tables, gate, nodeSize, lag);
    const deps: RegisterDeps = {
      config,
      tasks: memoryTasks(tables, gate, lag),
      waiting: memoryWaiting(tables, gate, lag),
      locks: memoryLocks(tables, gate, lag),
      batches: memoryBatches(tables, gate, lag),
      fanOuts,
      powers: { producers: {}, mode: async () => 'enforce', itemKeys: rememberedItemKeys(fanOuts) },
      lists: this.#noting(memoryLists(tables, gate, nodeSize, pageBytes, claimsMax)),
      queues: {
        register: (bodies) => through(gate, 'queues.register', () => this.#arrive(bodies)),
        callbacks,
        // This simulation does not process registered tasks.
        elect: nothing,
        resume: nothing,
        grant: nothing,
        group: nothing,
        batch: nothing,
        reject: nothing,
        giveUp: nothing,
      },
      machine,
      report,
    };
    return patched?.deps?.(deps) ?? deps;
  }

  /**
   * Records each list that is read before jobs are taken. A trigger need not take jobs that were added after that read.
   */
  #noting(lists: Lists): Lists {
    let read: List | undefined;
    return {
      ...lists,
      read: async (id) => {
        read = await lists.read(id);
        return read;
      },
      take: (id, token, taking) => {
        const { seenBy } = this.#bookOf(id);
        if (read && listOf(read.id) === id) seenBy.set(token, [...(seenBy.get(token) ?? []), read]);
        return lists.take(id, token, taking);
      },
    };
  }

  #watch(): void {
    const { nodeSize, faults } = this.#scenario;
    const { tables, scheduler } = this.#clients;
    const bookOf = (id: ListId): Book => this.#bookOf(id);
    const watched = { tables, nodeSize, bookOf, now: () => scheduler.now, skew: faults.skew };
    tables.watcher = {
      fanOut: (before, after) =>
        this.#clients.checked(() => checkList(watched, before as List | undefined, after as List)),
      listClaims: (id) => this.#clients.checked(() => checkApart(watched, id)),
      fanOutNode: (id, position, before, after) =>
        this.#clients.checked(() => checkTracker(watched, id, position, before, after)),
      task: (before, after) => {
        this.#clients.checked(() => checkTask(bookOf, before, after));
        if (!before) this.#work(after);
      },
    };
  }

  #bookOf(id: ListId): Book {
    const book = this.#books.get(id) ?? new Book(this.#scenario.config.lists.maxDeliveries);
    this.#books.set(id, book);
    return book;
  }

  /** Starts all clients and workers of one list. */
  #startList(plan: ListPlan): void {
    const { id, people, workers } = plan;
    for (const [n, requests] of people.entries())
      this.#whileActive(id, () =>
        this.#clients.want(`${id}-person-${n}`, requests, (request) => this.#stepOf(plan, request)),
      );
    for (let n = 0; n < workers.count; n += 1)
      this.#whileActive(id, () => this.#workerOf(plan, `${id}-worker-${n}`).pull(this.#scenario.span));
    this.#clients.whileBusy(() => this.#end(plan));
  }

  #whileActive(id: ListId, stay: () => Promise<void>): void {
    this.#active.set(id, (this.#active.get(id) ?? 0) + 1);
    this.#clients.whileBusy(async () => {
      await stay();
      this.#active.set(id, (this.#active.get(id) ?? 0) - 1);
    });
  }

  #workerOf(plan: ListPlan, name: string): PullingWorker {
    return new PullingWorker(name, plan, this.#steps, this.#clients, () => this.#before(plan.id));
  }

  #stepOf({ id, hasOperation }: ListPlan, request: ClientRequestOf): Step<RegisterDeps, void> {
    switch (request.do) {
      case 'open':
        return async ({ lists, machine }) => {
          const createdAt = machine.now();
          const operation = hasOperation ? { operation: OPERATION } : {};
          await lists.open({ id: trackerOf(id), createdAt, ...operation }, nextLook(createdAt, createdAt));
        };
      case 'append':
        return async (deps) => {
          const { count, token, isOther = false } = request;
          const payloads = Array.from({ length: count }, (_, index) => payloadOf(token, index, isOther));
          const asked = this.#before(id);
          const answer = await busyOr(this.#steps.append(deps, id, payloads, token));
          if (answer) this.#clients.checked(() => checkAppended(asked(), token, payloads, answer));
        };
      case 'trigger':
        return (deps) => this.#trigger(deps, id, request.wanted, request.token);
      case 'seal':
        return async (deps) => {
          await this.#steps.seal(deps, trackerOf(id));
        };
      case 'break':
        return (deps) => this.#break(deps, id);
      case 'cancel':
        return (deps) => this.#drop(deps, id, 'cancel');
      case 'delete':
        return (deps) => this.#drop(deps, id, 'delete');
    }
  }

  async #trigger(deps: RegisterDeps, id: ListId, wanted: Wanted, token: Token): Promise<void> {
    const book = this.#bookOf(id);
    book.wanted.set(token, [...(book.wanted.get(token) ?? []), wanted]);
    const asked = this.#before(id);
    const answer = await busyOr(this.#steps.trigger(deps, id, wanted, token));
    if (answer) this.#clients.checked(() => checkTriggered(asked(), token, answer));
  }

  /** Ends one of the claims that are under way. */
  async #break(deps: RegisterDeps, id: ListId): Promise<void> {
    const asked = this.#before(id);
    const { book } = asked();
    const [lease] = book.leases.filter(({ claim }) => claim !== undefined);
    if (lease?.claim === undefined) return;
    const formed = new Map(book.formed);
    const answer = await this.#steps.breakClaim(deps, id, { key: lease.claim });
    this.#clients.checked(() => checkBroken(asked(), (key) => formed.get(key) ?? 0, answer));
  }

  async #drop(deps: RegisterDeps, id: ListId, how: 'cancel' | 'delete'): Promise<void> {
    const list = await deps.lists.read(id);
    if (!list) return;
    if (how === 'cancel') await this.#steps.cancelRest(deps, list);
    else {
      const ended = await this.#steps.discard(deps, list);
      // The event of the list is being sent, so the client repeats the request.
      if (ended?.event) throw new InjectedFault('its event is on its way');
      await this.#steps.visit(deps, trackerOf(id), () => true);
    }
  }

  /** Ends the list when all its clients and workers are done. */
  async #end(plan: ListPlan): Promise<void> {
    const { id, ending } = plan;
    const { scheduler, tables } = this.#clients;
    const { faultsEnd, span } = this.#scenario;
    await scheduler.wait(Math.max(faultsEnd, span));
    while ((this.#active.get(id) ?? 0) > 0) await scheduler.wait(10_000);
    if (!tables.fanOuts.has(trackerOf(id))) return;
    if (ending !== 'finish') await this.#clients.ask(`${id}-end`, ALWAYS, (deps) => this.#drop(deps, id, ending));
    await this.#clients.ask(`${id}-end`, ALWAYS, async (deps) => {
      await this.#steps.seal(deps, trackerOf(id));
    });
    const lastPlan: ListPlan = {
      ...plan,
      workers: { ...plan.workers, dying: 0, releasing: 0, span: 1_000, lease: 2 * MINUTE },
    };
    await this.#workerOf(lastPlan, `${id}-heir`).pull(ALWAYS);
  }

  /** Delivers register messages. Each message is delivered until it has been handled, and sometimes twice. */
  #arrive(bodies: readonly string[]): void {
    const { chaos, scheduler } = this.#clients;
    for (const body of bodies) {
      this.#messages += 1;
      const messageId = `m${this.#messages}`;
      const random = chaos.chanceOf(messageId);
      const times = chaos.happens('duplicate', messageId) ? 2 : 1;
      for (let time = 0; time < times; time += 1)
        this.#clients.whileBusy(async () => {
          await scheduler.wait(random.int(0, chaos.happens('late', messageId) ? 10 * MINUTE : 500));
          await this.#clients.ask('register', ALWAYS, (deps) => this.#steps.register(deps, [{ messageId, body }]));
        });
    }
  }

  /** Ends a task, and repeats the ack of its item until the ack is answered. */
  #work({ id, fanOutItem }: Task): void {
    const { chaos, scheduler } = this.#clients;
    const plan = this.#scenario.lists.find((each) => id.startsWith(`${each.id}:`));
    if (!plan || !fanOutItem) return;
    const random = chaos.chanceOf(`task ${id}`);
    const status = random.chance(plan.workers.failing) ? 'failed' : 'succeeded';
    this.#clients.whileBusy(async () => {
      await scheduler.wait(random.int(0, plan.taskSpan));
      await this.#clients.ask('task', ALWAYS, (deps) => this.#steps.ackEnded(deps, [{ fanOutItem, status }]));
    });
  }

  /** Reads the list before a request. The returned function reads the list again when the request is answered. */
  #before(id: ListId): () => Asked {
    const { tables, scheduler } = this.#clients;
    const read = (): List | undefined => tables.fanOuts.get(trackerOf(id)) as List | undefined;
    const [before, askedAt] = [read(), scheduler.now];
    const leasesBefore = this.#bookOf(id).leases;
    const said = (token: number) => tables.listResults.get(`${id}#${token}`);
    return () => ({
      id,
      book: this.#bookOf(id),
      before,
      after: read(),
      leasesBefore,
      claimsMax: this.#scenario.claimsMax,
      askedAt,
      said,
    });
  }
}
