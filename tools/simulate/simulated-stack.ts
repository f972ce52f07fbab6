/**
 * A simulated stack: the product's steps on tables and queues in memory, in virtual time. Requests take time, concurrency is
 * limited, and there are no random faults. Rows of ended tasks are deleted after some minutes.
 */
import { printCallback } from '../../src/domain/callbacks/callback.ts';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { BatchId, Millis, TaskId } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { MAX_RECEIVES, MESSAGES_AT_ONCE, MINUTE } from '../../src/domain/timings.ts';
import { SortedRows } from '../../src/memory/ordered.ts';
import { SimulatedQueue } from '../../src/memory/queue.ts';
import type { SimulatedQueues } from '../../src/memory/queues.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import type { SourceQueue } from '../../src/ports/queues.ts';
import { type Steps, simulatedFunctions } from '../../src/processes/functions.ts';
import { attempt, beginLife, type Started, startProcess } from '../../src/processes/process.ts';
import { charged, pricesOf, type RowSizes, type Spent } from '../../src/processes/units.ts';
import { isInline } from '../../src/rows/task-rows.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { Chaos } from '../../src/virtual/chaos.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { DOWNSTREAM_CALL, type Process } from '../../src/virtual/faulty-gate.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { bestHabits, type Habits } from '../../src/virtual/habits.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { START } from '../../src/virtual/trace.ts';
import { type DownstreamModel, type Heard, modelledDownstream } from './downstream.ts';
import { Forgetting } from './forgetting.ts';
import { latencies, type Platform, pollersOf } from './platform.ts';
import { bytesOf, countedQueues, Tally } from './tally.ts';
import type { Arrival } from './trace.ts';

export interface SimulatedStackOptions {
  readonly config: Config;
  readonly downstream: DownstreamModel;
  readonly surroundings: Platform;
  readonly seed: number;
  /**
   * Called with the capacity units of each call. Returns how long the caller waits for capacity, in ms.
   * @default - unlimited capacity
   */
  readonly capacity?: (spent: readonly Spent[], now: Millis) => Millis;
  /** Called for each call that the downstream receives. */
  readonly onCall?: (heard: Heard, now: Millis) => void;
  /** How SQS delivers messages. @default - soon, in order, and once */
  readonly habits?: (queue: SourceQueue, chaos: Chaos) => Partial<Habits>;
  /** Steps that replace the product's. @default - none */
  readonly steps?: Partial<Steps>;
}

const FORGET_EVERY: Millis = 5_000;

export class SimulatedStack {
  readonly start = START;
  readonly scheduler = new Scheduler(START);
  readonly tally: Tally;
  readonly #options: SimulatedStackOptions;
  readonly #tables = emptyTables(() => new Map(), {
    newRows: () => new SortedRows(),
    isApart: (task) => !isInline(task),
  });
  readonly #chaos: Chaos;
  readonly #queues: SimulatedQueues & { readonly callback: SimulatedQueue };
  readonly #rejected: Rejection[] = [];
  readonly #sizes: RowSizes = { batches: new Map(), payloads: new Map() };
  readonly #prices = pricesOf(this.#sizes);
  readonly #forgetting: Forgetting;
  readonly #runs = new Map<string, number>();
  readonly #callDownstream: ReturnType<typeof modelledDownstream>;
  readonly #requestTakes: () => Millis;
  /** Sleeping invocations, by function. */
  readonly #sleepers = new Map<string, number>();
  /** Batches that were included in a call. */
  readonly #calledAbout = new Set<BatchId>();
  #sent = 0;
  #unfinished = 0;
  #defect: unknown;

  constructor(options: SimulatedStackOptions) {
    this.#options = options;
    const { config, downstream, seed } = options;
    const { scheduler } = this;
    this.tally = new Tally(config, START);
    this.#chaos = new Chaos(scheduler, { seed, rates: NO_FAULTS, faultsEnd: 0 }, () => {});
    this.#chaos.onViolation = (violation) => {
      this.#defect ??= violation;
    };
    this.#forgetting = new Forgetting(this.#tables, {
      batch: (id) => {
        this.#sizes.batches.delete(id);
        this.#calledAbout.delete(id);
      },
      task: (id) => this.#sizes.payloads.delete(id),
    });
    this.#watch();
    this.#callDownstream = modelledDownstream(downstream, scheduler, START, (heard) => this.#hear(heard));
    this.#requestTakes = latencies(options.surroundings.request, this.#chaos.chanceOf('requests'));
    const steps = { registerAll, electLeader, group, handleBatch, ...options.steps };
    const start = (fn: string, timeout: Millis): Started => this.#start(fn, timeout);
    const working = simulatedFunctions(this.#chaos, steps, config, start, (queue) => this.#habitsOf(queue));
    this.#queues = { ...working, callback: this.#callbackQueue() };
    this.#sweepEachMinute();
    this.#forgetNowAndThen();
  }

  /** Whether all tasks have ended and all queues are empty. */
  get isAtRest(): boolean {
    return this.#unfinished === 0 && Object.values(this.#queues).every(({ isEmpty }) => isEmpty);
  }

  /** Number of tasks that have not ended. */
  get unfinished(): number {
    return this.#unfinished;
  }

  /** Number of rows of tasks and batches in memory. */
  get held(): number {
    return this.#tables.tasks.size + this.#tables.batches.size;
  }

  /** Sends a task now, as a producer. The task's id contains the time. */
  send({ at, operation, payload, weight }: Arrival): void {
    this.#sent += 1;
    const id = `${String(START + at).padStart(14, '0')}${String(this.#sent).padStart(12, '0')}`;
    const weighing = weight === undefined ? '' : `,"weight":${weight}`;
    const body = `{"id":"${id}","operation":${JSON.stringify(operation)},"payload":${payload}${weighing}}`;
    this.tally.sent(at, bytesOf(body));
    this.#queues.register.send(body);
  }

  /** Runs the next event. @throws an error of the steps, which is a defect */
  async step(): Promise<void> {
    await this.scheduler.step();
    if (this.#defect) throw this.#defect;
  }

  #watch(): void {
    const { scheduler } = this;
    this.#tables.watcher = {
      task: (before, { id, operation, state }) => {
        if (before === undefined) this.#unfinished += 1;
        if (state.status !== 'succeeded' && state.status !== 'failed') return;
        this.#unfinished -= 1;
        this.tally.ended(operation, state.status, scheduler.now);
        if (state.batchId !== undefined) return;
        this.tally.waited(scheduler.now - START);
        this.#forgetting.task(id, scheduler.now);
      },
      batch: (_, { id, finishedAt }) => {
        if (finishedAt !== undefined) this.#forgetting.batch(id, scheduler.now);
      },
    };
  }

  #hear(heard: Heard): void {
    const { batchId } = heard.call;
    const isFirst = !this.#calledAbout.has(batchId);
    this.#calledAbout.add(batchId);
    this.tally.heard(heard, isFirst, this.scheduler.now, sentAt);
    this.#options.onCall?.(heard, this.scheduler.now);
  }

  #start(fn: string, timeout: Millis): Started {
    const run = (this.#runs.get(fn) ?? 0) + 1;
    this.#runs.set(fn, run);
    const life = { ...beginLife(this.#chaos, fn, run, timeout, this.#gateOf), report: this.tally.report };
    const sentCallbacks = { push: (...all: Parameters<typeof printCallback>[0][]) => this.#tell(all) };
    const around = {
      config: this.#options.config,
      tables: this.#tables,
      queues: this.#queues,
      rejected: this.#rejected,
      sentCallbacks,
      downstream: () => this.#callDownstream,
    };
    const { deps, ...started } = startProcess(around, life);
    const machine = { ...deps.machine, sleep: (span: Millis) => this.#sleep(fn, span) };
    return { ...started, deps: { ...this.#metered(deps), machine } };
  }

  async #sleep(fn: string, span: Millis): Promise<void> {
    const { scheduler } = this;
    this.#sleepers.set(fn, (this.#sleepers.get(fn) ?? 0) + 1);
    if (!this.#options.surroundings.pollers.countSleepers && fn === 'group') this.#queues.group.pollAgain();
    await scheduler.wait(span);
    this.#sleepers.set(fn, (this.#sleepers.get(fn) ?? 0) - 1);
  }

  #tell(messages: readonly Parameters<typeof printCallback>[0][]): number {
    for (const message of messages) this.#queues.callback.send(printCallback(message));
    return messages.length;
  }

  readonly #spend = (spent: readonly Spent[]): Promise<void> | undefined => {
    this.tally.spent(spent);
    const wait = this.#options.capacity?.(spent, this.scheduler.now) ?? 0;
    return wait > 0 ? this.scheduler.wait(wait) : undefined;
  };

  #metered(deps: Started['deps']): Started['deps'] {
    const { tasks, waiting, locks, batches, operations, buckets } = this.#prices;
    return {
      ...deps,
      tasks: charged(deps.tasks, tasks, this.#spend),
      waiting: charged(deps.waiting, waiting, this.#spend),
      locks: charged(deps.locks, locks, this.#spend),
      batches: charged(deps.batches, batches, this.#spend),
      operations: charged(deps.operations, operations, this.#spend),
      buckets: charged(deps.buckets, buckets, this.#spend),
      queues: countedQueues(deps.queues, this.tally),
    };
  }

  /** Delays requests, and stops a function after its timeout. */
  readonly #gateOf = ({ scheduler }: Chaos, { endsAt }: Process): Gate => {
    const { atOnce } = this.#options.surroundings;
    const callTakes = (statements: number): Millis => {
      let takes = this.#requestTakes();
      for (let sent = atOnce; sent < statements; sent += atOnce) takes += this.#requestTakes();
      return takes;
    };
    return async (call, effects) => {
      if (call !== DOWNSTREAM_CALL) await scheduler.wait(callTakes(effects.length));
      if (scheduler.now > endsAt) await new Promise<never>(() => {});
      return effects.map((effect) => effect());
    };
  };

  #habitsOf(queue: SourceQueue): Habits {
    const { surroundings, habits } = this.#options;
    const { tally, scheduler } = this;
    const pollers = pollersOf(surroundings, {
      now: () => scheduler.now,
      sleepers: () => this.#sleepers.get(queue) ?? 0,
      onHandled: (took, bodies) => {
        tally.invoked(queue, took + surroundings.overhead);
        // One set of requests received the messages, and another set deletes them.
        tally.requested(bodies.map(bytesOf));
        tally.requested(bodies.map(() => 0));
      },
    });
    const untilPoll = latencies(surroundings.delivery, this.#chaos.chanceOf(`${queue} deliveries`));
    return { ...bestHabits, untilPoll, ...habits?.(queue, this.#chaos), pollers };
  }

  /** Receivers of events are not simulated. An event costs a request and an invocation, but no time. */
  #callbackQueue(): SimulatedQueue {
    const options = {
      name: 'callback',
      visibility: MINUTE,
      maxReceives: MAX_RECEIVES,
      batchSize: MESSAGES_AT_ONCE.callback,
      consume: async <T>(messages: T) => messages,
    };
    return new SimulatedQueue(this.#chaos, options, this.#habitsOf('callback'));
  }

  #forgetNowAndThen(): void {
    this.scheduler.after(FORGET_EVERY, () => {
      this.#forgetting.until(this.scheduler.now);
      this.#forgetNowAndThen();
    });
  }

  #sweepEachMinute(): void {
    this.scheduler.after(MINUTE, async () => {
      this.#sweepEachMinute();
      this.#rejected.length = 0;
      const { name, deps, invocation } = this.#start('sweep', MINUTE);
      const from = this.scheduler.now;
      await attempt(this.#chaos, name, () => sweep(deps, invocation), undefined);
      this.tally.invoked('sweep', this.scheduler.now - from);
    });
  }
}

/** The time that {@link SimulatedStack.send} wrote into a task's id. */
export const sentAt = (id: TaskId): Millis => Number(id.slice(0, 14));
