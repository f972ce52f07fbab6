/** One schedule of the published algorithm: its functions and workflows on its tables, under a virtual clock. */

import { handlerTimeout } from '../../../src/domain/config/resolved.ts';
import type { BatchId, Millis, Target, TaskId } from '../../../src/domain/ids.ts';
import { parseRegisterMessage } from '../../../src/domain/register/register-message.ts';
import {
  LEADER_TIMEOUT,
  MAX_RECEIVES,
  MESSAGES_AT_ONCE,
  MINUTE,
  REGISTER_VISIBILITY,
} from '../../../src/domain/timings.ts';
import { type QueuedMessage, SimulatedQueue } from '../../../src/memory/queue.ts';
import { attempt } from '../../../src/processes/process.ts';
import { Chaos } from '../../../src/virtual/chaos.ts';
import { faultyGate, type Process } from '../../../src/virtual/faulty-gate.ts';
import { through } from '../../../src/virtual/gate.ts';
import { Scheduler } from '../../../src/virtual/scheduler.ts';
import { START } from '../../../src/virtual/trace.ts';
import type { CallLog } from '../../../verification/batches/call-log.ts';
import type { Scenario } from '../../../verification/batches/scenario.ts';
import { simulatedDownstream } from '../../../verification/batches/simulated-downstream.ts';
import { countCalls, type Outcome, type Sent, sentTasks } from '../outcome.ts';
import { handlePublishedBatch } from './batch-handler.ts';
import type { Reading } from './reading.ts';
import { simulatedTables } from './simulated-tables.ts';
import { Store } from './store.ts';
import type { TaskRow } from './tables.ts';
import { TargetIndex } from './target-index.ts';
import { type Run, Workflows } from './workflows.ts';

/** A schedule that lasts longer counts as endless, in milliseconds. */
const PATIENCE: Millis = 48 * 60 * MINUTE;
/** How long after the expiry of every lock and after the last fault the additional tasks are sent, in milliseconds. */
const LATER: Millis = 60 * MINUTE;

export class PublishedWorld {
  readonly #scenario: Scenario;
  readonly #sent: ReadonlyMap<TaskId, Sent>;
  readonly #scheduler = new Scheduler(START);
  readonly #log: CallLog = { calls: [], tried: new Set(), reports: [] };
  readonly #chaos: Chaos;
  readonly #store: Store;
  readonly #registerQueue: SimulatedQueue;
  readonly #batchQueue: SimulatedQueue;
  readonly #workflows: Workflows;
  #runs = 0;

  constructor(scenario: Scenario, reading: Reading) {
    this.#scenario = scenario;
    this.#sent = sentTasks(scenario);
    const { seed, faults: rates, faultsEnd } = scenario;
    this.#chaos = new Chaos(this.#scheduler, { seed, rates, faultsEnd: START + faultsEnd }, () => {});
    const random = this.#chaos.chanceOf('index');
    this.#store = new Store(new TargetIndex(this.#scheduler, () => reading.lag(random)), reading.claims);
    this.#registerQueue = this.#queue('register', LEADER_TIMEOUT, REGISTER_VISIBILITY, (run, message) =>
      this.#register(run, message),
    );
    const handlerTime = handlerTimeout(scenario.config);
    this.#batchQueue = this.#queue(
      'batch',
      handlerTime,
      6 * handlerTime,
      ({ name, gate, random, now }, { body, receives }) => {
        const downstream = simulatedDownstream({
          chaos: this.#chaos,
          name,
          random,
          log: this.#log,
          gate,
          config: scenario.config,
        });
        const tables = simulatedTables(this.#store, gate, now);
        return handlePublishedBatch({ tables, downstream }, body as BatchId, receives);
      },
    );
    this.#workflows = new Workflows({
      config: scenario.config,
      chaos: this.#chaos,
      store: this.#store,
      reading,
      start: (fn, timeout) => this.#start(fn, timeout),
      sendBatch: (id) => void this.#batchQueue.send(id),
    });
  }

  async run(): Promise<Outcome> {
    for (const { at, body } of this.#scenario.sends) this.#scheduler.after(at, () => this.#registerQueue.send(body));
    await this.#untilNothingIsLeft();
    const outcome = this.#count();
    if (outcome.stranded === 0) return outcome;
    const stranded = this.#stranded();
    await this.#laterTasks(new Set(stranded.map((id) => (this.#sent.get(id) as Sent).target)));
    return { ...outcome, strandedStill: stranded.filter((id) => !this.#store.ended.has(id)).length };
  }

  /** Runs the planned events until none is left. No new events come from outside. */
  async #untilNothingIsLeft(): Promise<void> {
    await this.#scheduler.run(() => false, START + PATIENCE);
  }

  #queue(
    name: 'register' | 'batch',
    timeout: Millis,
    visibility: Millis,
    handle: (run: Run, message: QueuedMessage) => Promise<boolean>,
  ): SimulatedQueue {
    const consume = async (messages: readonly QueuedMessage[]): Promise<QueuedMessage[]> => {
      const run = this.#start(name, timeout);
      const done = await Promise.all(
        messages.map((message) => attempt(this.#chaos, run.name, () => handle(run, message), false)),
      );
      return messages.filter((_, index) => done[index]);
    };
    const batchSize = MESSAGES_AT_ONCE[name];
    return new SimulatedQueue(this.#chaos, { name, visibility, maxReceives: MAX_RECEIVES, batchSize, consume });
  }

  #start(fn: string, timeout: Millis): Run {
    const { scheduler, rates } = this.#chaos;
    this.#runs += 1;
    const name = `${fn}-${this.#runs}`;
    const random = this.#chaos.chanceOf(name);
    const process: Process = {
      name,
      function: fn,
      random,
      clockOffset: random.int(-rates.skew, rates.skew),
      endsAt: scheduler.now + timeout,
      outlivesTimeout: false,
    };
    const now = (): Millis => scheduler.now + process.clockOffset;
    return { name, gate: faultyGate(this.#chaos, process), random, now };
  }

  async #register({ gate, now }: Run, { id: messageId, body }: QueuedMessage): Promise<boolean> {
    const parsed = parseRegisterMessage(this.#scenario.config, { messageId, body });
    if (!parsed.ok) return true;
    const { id, target, payload } = parsed.value;
    const task: TaskRow = { id, target, payload, status: 'created', createdAt: now() };
    const stored = await simulatedTables(this.#store, gate, now).insert(task);
    if (stored.status === 'created')
      await through(gate, 'workflow.start', () => this.#workflows.elect(stored.id, target));
    return true;
  }

  /** Sends one more task to each Target. */
  async #laterTasks(targets: ReadonlySet<Target>): Promise<void> {
    this.#scheduler.after(LATER, () => {
      for (const target of targets) {
        const id = `later-${target}` as TaskId;
        const createdAt = this.#scheduler.now;
        this.#store.insert({ id, target, payload: '{}', status: 'created', createdAt });
        this.#workflows.elect(id, target);
      }
    });
    await this.#untilNothingIsLeft();
  }

  #count(): Outcome {
    const { history, units } = this.#store;
    const stranded = this.#stranded().length;
    const batches = [...history].flatMap(([id, ids]) =>
      [...ids].map((batch) => [batch, this.#sent.get(id)?.maxSize ?? 0] as const),
    );
    const places = new Map(batches);
    return {
      schedules: 1,
      tasks: this.#sent.size,
      schedulesStranded: Math.min(1, stranded),
      stranded,
      strandedStill: 0,
      deadLettered: this.#deadLettered().size,
      inTwoBatches: [...history.values()].filter(({ size }) => size > 1).length,
      ...countCalls(this.#sent, this.#log.calls),
      batches: places.size,
      members: batches.length,
      places: [...places.values()].reduce((sum, each) => sum + each, 0),
      writeUnits: units.write,
      readUnits: units.read,
    };
  }

  /** The tasks that have not ended and whose message is a dead letter. */
  #deadLettered(): ReadonlySet<TaskId> {
    const registered = [...this.#registerQueue.deadLetters].flatMap(({ id: messageId, body }) => {
      const parsed = parseRegisterMessage(this.#scenario.config, { messageId, body });
      return parsed.ok ? [parsed.value.id] : [];
    });
    const batched = [...this.#batchQueue.deadLetters].flatMap(
      ({ body }) => this.#store.batches.get(body as BatchId)?.members ?? [],
    );
    return new Set([...registered, ...batched].filter((id) => !this.#store.ended.has(id)));
  }

  #stranded(): TaskId[] {
    const deadLettered = this.#deadLettered();
    return [...this.#sent.keys()].filter((id) => !this.#store.ended.has(id) && !deadLettered.has(id));
  }
}
