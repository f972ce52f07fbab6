/**
 * The functions of a testbed: the real steps on tables and queues in memory, in virtual time. Functions, timeouts and
 * queues work as in a simulated schedule (`src/virtual`). Nothing happens by chance here unless the test asks for it.
 */

import { setImmediate } from 'node:timers';
import { type CallbackMessage, printCallback } from '../domain/callbacks/callback.ts';
import { type Config, callbackTimeout, callbackVisibility } from '../domain/config/resolved.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import type { FlowEvent } from '../domain/events/events.ts';
import type { Millis, TaskId } from '../domain/ids.ts';
import type { Rejection } from '../domain/register/rejection.ts';
import { hasEnded } from '../domain/tasks/task.ts';
import { CALLBACK_RECEIVES, MESSAGES_AT_ONCE, MINUTE } from '../domain/timings.ts';
import { memoryReturns, memoryShares, receivedFrom, type ShareRow } from '../memory/callbacks.ts';
import { SortedRows } from '../memory/ordered.ts';
import { SimulatedQueue } from '../memory/queue.ts';
import { GivenUp, type SimulatedQueues } from '../memory/queues.ts';
import { Remembered } from '../memory/remembered.ts';
import { emptyTables, type Tables } from '../memory/tables.ts';
import type { SourceQueue } from '../ports/queues.ts';
import { simulatedFunctions } from '../processes/functions.ts';
import { attempt, beginLife, type Life, type Started, startProcess } from '../processes/process.ts';
import { handleBatch } from '../steps/call/handle-batch.ts';
import { deliverAll } from '../steps/deliver/deliver.ts';
import type { DeliverDeps } from '../steps/deliver/deliver-to.ts';
import { sharing } from '../steps/deliver/sharing.ts';
import type { Deps } from '../steps/deps.ts';
import { electLeader } from '../steps/lead/elect-leader.ts';
import { group } from '../steps/lead/group.ts';
import { registerAll } from '../steps/register/register.ts';
import { sweep } from '../steps/repair/sweep.ts';
import { Chaos } from '../virtual/chaos.ts';
import type { FaultRates } from '../virtual/faults.ts';
import { faultyGate, type Process } from '../virtual/faulty-gate.ts';
import { type Gate, openGate } from '../virtual/gate.ts';
import { anyHabits, bestHabits, type Habits } from '../virtual/habits.ts';
import type { Mishaps } from './mishaps.ts';
import type { Pace } from './pace.ts';

/** Name of the testbed's deployment, which is used in the `source` of events. */
const STACK = 'testbed';
/** Longest time for a request to the API, in milliseconds. */
const API_TIMEOUT: Millis = 20_000;

/** Faults that happen by chance, and the time at which they end. */
interface ChaosOfBed {
  readonly seed: number;
  readonly rates: FaultRates;
  readonly faultsEnd: Millis;
  /** Whether any fault happens by chance. */
  readonly isWanted: boolean;
}

export interface FlowOptions {
  readonly config: Config;
  readonly pace: Pace;
  readonly mishaps: Mishaps;
  readonly chaos: ChaosOfBed;
  readonly downstream: (life: Life) => Downstream;
  readonly wayTo: DeliverDeps['wayTo'];
}

export class Flow {
  readonly tables: Tables;
  readonly queues: SimulatedQueues & { readonly callback: SimulatedQueue };
  readonly rejected: Rejection[] = [];
  readonly givenUp: GivenUp;
  readonly events: FlowEvent[] = [];
  /** Tasks that have not ended. */
  readonly unfinished = new Set<TaskId>();
  readonly #options: FlowOptions;
  readonly #chaos: Chaos;
  readonly #runs = new Map<string, number>();
  readonly shares: ShareRow = new Map();

  constructor(options: FlowOptions) {
    this.#options = options;
    const { pace, chaos, config } = options;
    this.givenUp = new GivenUp(() => pace.scheduler.now);
    this.#chaos = new Chaos(pace.scheduler, chaos, () => {});
    this.#chaos.onViolation = (violation) => pace.fail(violation);
    this.tables = chaos.isWanted
      ? emptyTables(() => new Remembered(() => pace.scheduler.now))
      : emptyTables(undefined, { newRows: () => new SortedRows() });
    this.tables.watcher = {
      task: (_, { id, state }) => {
        if (hasEnded(state)) this.unfinished.delete(id);
        else this.unfinished.add(id);
      },
    };
    const steps = { registerAll, electLeader, group, handleBatch };
    const start = (fn: string, timeout: Millis): Started => this.#start(fn, timeout);
    const habitsOf = (queue: SourceQueue): Habits => this.#habitsOf(queue);
    const working = simulatedFunctions(this.#chaos, steps, config, start, habitsOf);
    this.queues = { ...working, callback: this.#callbackQueue() };
    this.#sweepEachMinute();
  }

  /** Whether every task has ended and every queue is empty. */
  get isAtRest(): boolean {
    return this.unfinished.size === 0 && Object.values(this.queues).every(({ isEmpty }) => isEmpty);
  }

  /** Dependencies of the HTTP API. Its calls on ports have no faults and take no virtual time. */
  apiDeps(): Deps {
    const { deps } = this.#start('api', API_TIMEOUT, () => openGate);
    // Let requests that compete for a row take turns. Without this, their pauses would not let other requests run,
    // because calls take no time.
    const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
    return { ...deps, machine: { ...deps.machine, sleep } };
  }

  #start(fn: string, timeout: Millis, gateOf = this.#gateOf): Started {
    const run = (this.#runs.get(fn) ?? 0) + 1;
    this.#runs.set(fn, run);
    const life = beginLife(this.#chaos, fn, run, timeout, gateOf);
    const report = (event: FlowEvent): void => {
      this.events.push(event);
      // An event that a destination refused is no violation.
      if (event.event !== 'not-delivered') life.report(event);
    };
    const { config, downstream } = this.#options;
    const { tables, queues, rejected, givenUp } = this;
    const sentCallbacks = {
      push: (...messages: CallbackMessage[]) =>
        messages.map((message) => queues.callback.send(printCallback(message))).length,
    };
    return startProcess({ config, tables, queues, rejected, givenUp, sentCallbacks, downstream }, { ...life, report });
  }

  readonly #gateOf = (chaos: Chaos, process: Process): Gate => {
    const { mishaps, chaos: wanted } = this.#options;
    return mishaps.gateFor(process.function, wanted.isWanted ? faultyGate(chaos, process) : inTime(chaos, process));
  };

  #habitsOf(queue: SourceQueue): Habits {
    const { mishaps, chaos } = this.#options;
    return mishaps.habitsFor(queue, chaos.isWanted ? anyHabits(this.#chaos, queue) : bestHabits);
  }

  #callbackQueue(): SimulatedQueue {
    const timeout = callbackTimeout(this.#options.config);
    const options = {
      name: 'callback',
      visibility: callbackVisibility(this.#options.config),
      maxReceives: CALLBACK_RECEIVES,
      batchSize: MESSAGES_AT_ONCE.callback,
      consume: async (messages: readonly Parameters<SimulatedQueue['delete']>[0][]) => {
        const { name, deps } = this.#start('callback', timeout);
        const received = receivedFrom(messages);
        const delivering = {
          ...deps,
          stack: STACK,
          wayTo: this.#options.wayTo,
          returns: memoryReturns(queue, messages),
          sharing: sharing(deps, memoryShares(this.shares, openGate)),
        };
        const back = await attempt(this.#chaos, name, () => deliverAll(delivering, received, () => {}), received);
        return messages.filter((message) => !back.some((each) => each.message === message));
      },
    };
    const queue = new SimulatedQueue(this.#chaos, options, this.#habitsOf('callback'));
    return queue;
  }

  #sweepEachMinute(): void {
    this.#options.pace.scheduler.after(MINUTE, () => {
      this.#sweepEachMinute();
      // Skip the sweep when there is nothing to do, so that tests can advance months quickly.
      if (this.isAtRest && [...this.tables.fanOuts.values()].every(({ checkAt }) => checkAt === undefined)) return;
      const { name, deps, invocation } = this.#start('sweep', MINUTE);
      attempt(this.#chaos, name, () => sweep(deps, invocation), undefined);
    });
  }
}

/**
 * The gate of functions without faults by chance. Calls take no time. A function that has used up its timeout never
 * continues.
 */
const inTime =
  ({ scheduler }: Chaos, { endsAt }: Process): Gate =>
  (call, effects) =>
    scheduler.now > endsAt ? new Promise<never>(() => {}) : openGate(call, effects);
