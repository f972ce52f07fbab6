/**
 * The simulated account of a schedule: its tables, its queues with their functions, the downstream, and the watchers of
 * all of them.
 */
import type { CallbackMessage } from '../../src/domain/callbacks/callback.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import { LEADER_TIMEOUT } from '../../src/domain/timings.ts';
import type { SimulatedQueue } from '../../src/memory/queue.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import { simulatedFunctions } from '../../src/processes/functions.ts';
import { type Life, type Started, startProcess, type Throttle } from '../../src/processes/process.ts';
import { pricesOf, type Spent } from '../../src/processes/units.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { registerAll } from '../../src/steps/register/register.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { brief, START } from '../../src/virtual/trace.ts';
import { Simulation } from '../harness/simulation.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { Configurations } from './configurations.ts';
import { isStep, metered } from './costs.ts';
import type { Seen } from './evidence.ts';
import { checkCompletion, checkOrder, ITEM_NODES, openFanOut } from './fanned-out.ts';
import { habitsOf } from './habits.ts';
import { neverQuiet, type Quiet, quietBetween } from './idle-months.ts';
import { watch } from './invariants.ts';
import { LAST_TRY, Partitions } from './partitions.ts';
import { PoisonedDownstream } from './poison.ts';
import { momentsOf, type Scenario } from './scenario.ts';
import { simulatedDownstream } from './simulated-downstream.ts';
import { checkHoldsSlot, checkPause } from './slots.ts';
import { nothingExpired } from './time-to-live.ts';
import type { Sent } from './unique-names.ts';

/** Few slots per page, so that even a low cap needs several pages. */
const SLOTS_PER_PAGE = 2;

export class Account {
  readonly scenario: Scenario;
  readonly simulation: Simulation;
  readonly quiet: Quiet;
  readonly configs: Configurations;
  readonly queues: Record<WorkingQueue, SimulatedQueue>;
  readonly partitions: Partitions | undefined;
  readonly tables = emptyTables(() => new Remembered(() => this.now));
  readonly rejected: Rejection[] = [];
  /** Callbacks that were sent. */
  readonly sentCallbacks: CallbackMessage[] = [];
  readonly sent: Sent[] = [];
  /** Bodies of register messages that were lost. */
  readonly lost = new Set<string>();
  readonly expired = nothingExpired();
  readonly log: CallLog = { calls: [], tried: new Set(), reports: [] };
  readonly seen: Seen = {
    idle: { longest: 0, longestForPaused: 0, most: 0 },
    settled: [],
    guards: { most: 0 },
    sweeps: [],
    opened: new Map(),
    forgotten: 0,
  };
  readonly #receipts = new Map<string, Millis[]>();
  readonly #prices = pricesOf({ batches: new Map(), payloads: new Map() });
  readonly #slotsPerPage: number;
  readonly #poison: PoisonedDownstream | undefined;

  constructor(scenario: Scenario, traced: boolean) {
    this.scenario = scenario;
    const { changes, config, isLong, items, partitions, slotsPerPage = SLOTS_PER_PAGE, steps } = scenario;
    this.#slotsPerPage = slotsPerPage;
    this.#poison = scenario.poison && new PoisonedDownstream(scenario.poison);
    this.configs = new Configurations(config, changes);
    const quiet = isLong ? quietBetween(momentsOf(scenario).map((at) => START + at)) : neverQuiet;
    this.quiet = quiet;
    const options = {
      ...scenario,
      ...(steps?.timeForCall ? { timeForCall: steps.timeForCall } : {}),
      ...(isLong ? { isSafe: (now: Millis) => quiet(now) > 0 } : {}),
    };
    this.simulation = new Simulation(options, traced);
    const { chaos } = this.simulation;
    this.partitions = partitions && new Partitions(partitions);
    this.queues = simulatedFunctions(
      chaos,
      { registerAll, electLeader, group, handleBatch, ...steps },
      config,
      (name, timeout, messages) => this.start(name, timeout, messages),
      habitsOf(chaos, scenario, quiet),
    );
    this.queues.register.onReceive = ({ id }) => this.#receipts.get(id)?.push(this.now);
    this.queues.register.onLost = ({ body }) => this.lost.add(body);
    chaos.removed = this.configs.removed;
    const { tables, configs, log, seen } = this;
    const groupQueue = this.queues.group;
    watch({ tables, configs, groupQueue, now: () => this.now, log, seen, slotsPerPage }, chaos.onViolation);
    tables.watcher.fanOut = (before, { status }) => {
      if (items !== undefined && status === 'complete' && before?.status !== status)
        this.simulation.judge(() => checkCompletion(tables, items));
    };
  }

  get now(): Millis {
    return this.simulation.scheduler.now;
  }

  /** Whether a queue lost messages, and with them the information that only those messages had. */
  get wasPurged(): boolean {
    return Object.values(this.queues).some(({ wasPurged }) => wasPurged);
  }

  /** Runs `run` after a delay, which may be longer in a quiet time of months. */
  again(delay: Millis, run: () => void): void {
    this.simulation.scheduler.after(Math.max(delay, this.quiet(this.now)), run);
  }

  /** Opens the fan-out before its tasks are sent. */
  async open(items: number): Promise<void> {
    await openFanOut(this.tables, items, this.start('opener', LEADER_TIMEOUT).deps);
  }

  /** Sends a register message. */
  send(body: string, late = 0): void {
    const receivedAt: Millis[] = [];
    const messageId = this.queues.register.send(body, 0, { late });
    this.#receipts.set(messageId, receivedAt);
    this.sent.push({ messageId, body, sentAt: this.now, receivedAt });
  }

  /** Keeps only the messages for which `isKept` is true, for the judges. */
  keepSent(isKept: (message: Sent) => boolean): void {
    this.sent.splice(0, this.sent.length, ...this.sent.filter(isKept));
  }

  /**
   * Starts the next invocation of a function.
   * @param messages the number of messages that the invocation received from a queue
   */
  start(name: string, timeout: Millis, messages = 0): Started {
    const { scenario, simulation, tables, queues, rejected, log } = this;
    const { chaos } = simulation;
    const config = this.configs.at(this.now);
    const onCall = ({ call }: LoggedCall): void => {
      // A batch handler that was paused may continue after the slot of its batch was freed.
      if (chaos.paused.has('batch')) return;
      simulation.judge(() => checkHoldsSlot(tables, config, call));
      simulation.judge(() => checkPause(tables, config, call, this.now));
    };
    const around = {
      config,
      tables,
      queues,
      rejected,
      sentCallbacks: { push: (...all: CallbackMessage[]) => this.#recordCallbacks(all) },
      downstream: ({ name, random, gate }: Life) =>
        simulatedDownstream({
          chaos,
          name,
          random,
          log,
          gate,
          config,
          jobs: queues.batch,
          onCall,
          poison: this.#poison,
        }),
      slotsPerPage: this.#slotsPerPage,
      processed: scenario.steps?.processed,
      ...(this.partitions ? { throttle: this.#throttle(this.partitions) } : {}),
      ...(scenario.items === undefined ? {} : { nodeSize: ITEM_NODES }),
    };
    const life = simulation.begin(name, timeout);
    return startProcess(around, { ...life, gate: this.#gateOf(life, messages) });
  }

  /** Records sent callbacks, and checks their order. */
  #recordCallbacks(messages: readonly CallbackMessage[]): number {
    for (const message of messages) this.simulation.judge(() => checkOrder(this.tables, message));
    return this.sentCallbacks.push(...messages);
  }

  /**
   * The gate of an invocation. It meters the requests of steps, and slows down the requests of the sweep if the
   * scenario says so.
   */
  #gateOf({ function: name, gate }: Life, messages: number): Gate {
    const { slowSweep = 0 } = this.scenario;
    const { chaos } = this.simulation;
    const around = { configs: this.configs, slotsPerPage: this.#slotsPerPage };
    if (isStep(name)) return metered(gate, { of: name, messages }, around, (check) => this.simulation.judge(check));
    if (name !== 'sweep' || slowSweep === 0) return gate;
    const random = chaos.chanceOf('slow requests');
    return async (call, effects) => {
      await chaos.scheduler.wait(random.int(0, slowSweep));
      return gate(call, effects);
    };
  }

  /** As the adapters do: retries a throttled request for a while. After that the call fails without any effect. */
  #throttle(partitions: Partitions): Throttle {
    const { chaos, scheduler } = this.simulation;
    const spend = async (process: string, spent: readonly Spent[]): Promise<void> => {
      try {
        const wait = partitions.spend(spent, scheduler.now);
        if (wait > 0) chaos.trace(() => `${process}  throttled for ${wait} ms ${brief(spent)}`);
        await scheduler.wait(wait);
      } catch (cause) {
        chaos.trace(() => `${process}  throttled in every round ${brief(spent)}`);
        chaos.hindered.add(process);
        await scheduler.wait(LAST_TRY);
        throw cause;
      }
    };
    return { prices: this.#prices, spend };
  }
}
