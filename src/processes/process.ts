/**
 * One invocation of a function in a schedule: a process with its own clock and its own random faults.
 *
 * This folder runs the Lambda functions as processes on the virtual machine (src/virtual), with ports in memory
 * (src/memory). It defines which step handles the messages of which queue, what each call costs, and which failures are
 * defects of a step. The test kit (src/testing), the simulator (tools/simulate) and verification/ run the same
 * processes.
 */

import type { CallbackMessage } from '../domain/callbacks/callback.ts';
import { type Config, keepTasksIn, operationFor } from '../domain/config/resolved.ts';
import type { Downstream } from '../domain/downstream/downstream.ts';
import { FULL_SIZE, type NodeSize } from '../domain/fan-outs/tree.ts';
import type { Millis, Token } from '../domain/ids.ts';
import { everyProducer } from '../domain/producers/rules.ts';
import { LOCAL_SENDER } from '../domain/producers/sender.ts';
import type { Rejection } from '../domain/register/rejection.ts';
import { SECOND } from '../domain/timings.ts';
import { memoryBatches } from '../memory/batches.ts';
import { memoryBuckets } from '../memory/buckets.ts';
import { memoryFanOuts } from '../memory/fan-outs.ts';
import { memoryLists } from '../memory/lists.ts';
import { memoryLocks } from '../memory/locks.ts';
import { memoryOperations } from '../memory/operations.ts';
import { memoryProcessed } from '../memory/processed.ts';
import { type GivenUp, memoryDeadLetters, memoryQueues, type SimulatedQueues } from '../memory/queues.ts';
import { type Lag, MAX_LAG } from '../memory/remembered.ts';
import type { Tables } from '../memory/tables.ts';
import { memoryTasks } from '../memory/tasks.ts';
import { memoryWaiting } from '../memory/waiting.ts';
import { type Invocation, TimeIsUp } from '../ports/machine.ts';
import type { ProcessedKeys } from '../ports/processed.ts';
import type { Deps } from '../steps/deps.ts';
import { rememberedItemKeys } from '../steps/fan-outs/item-keys.ts';
import { mergingDownstream } from '../steps/merge/merging-downstream.ts';
import { StoreClock } from '../util/store-clock.ts';
import type { Chaos } from '../virtual/chaos.ts';
import { faultyGate, type Process } from '../virtual/faulty-gate.ts';
import { type Gate, through } from '../virtual/gate.ts';
import type { Random } from '../virtual/random.ts';
import { brief } from '../virtual/trace.ts';
import { defectOf, defectReportedIn } from './defects.ts';
import { type pricesOf, type Spent, throttled } from './units.ts';

/** What all processes of a schedule share. */
export interface Surroundings {
  readonly config: Config;
  readonly tables: Tables;
  readonly queues: SimulatedQueues;
  readonly rejected: Rejection[];
  /** @default - no event is ever given up */
  readonly givenUp?: GivenUp;
  /** Callbacks that were sent. */
  readonly sentCallbacks: Pick<CallbackMessage[], 'push'>;
  /** Returns the batch API of the downstream, as the given process calls it. All operations call the same one. */
  readonly downstream: (life: Life) => Downstream;
  /** @default - the size that rows in DynamoDB allow */
  readonly nodeSize?: NodeSize;
  /** Number of slots on a page. @default - the number that rows in DynamoDB allow */
  readonly slotsPerPage?: number;
  /** Wraps the store of processed inputs, so that a known bug can be put back. */
  readonly processed?: ((keys: ProcessedKeys) => ProcessedKeys) | undefined;
  /**
   * Limits the capacity of partitions: a process must wait for capacity, or its call fails. @default - capacity is
   * unlimited
   */
  readonly throttle?: Throttle;
}

/** Prices of calls, and the function that spends them. */
export interface Throttle {
  readonly prices: ReturnType<typeof pricesOf>;
  readonly spend: (process: string, spent: readonly Spent[]) => Promise<void>;
}

export interface Started {
  readonly name: string;
  readonly deps: Deps;
  readonly invocation: Invocation;
}

/** A process with the parts that it does not share with other processes. */
export interface Life extends Pick<Deps, 'machine' | 'report'> {
  readonly name: string;
  /** Name of the function that this process executes. */
  readonly function: string;
  readonly gate: Gate;
  readonly random: Random;
  /** How far the eventually consistent reads of this process lag behind. */
  readonly lag: Lag;
  readonly invocation: Invocation;
  /** A gate whose answers show the store's time. */
  readonly dated: (gate: Gate) => Gate;
  /** The time on the store's clock, as this process knows it from these answers. */
  readonly storeNow: () => Millis;
}

/**
 * Starts a process that ends after `timeout`. @param gateOf creates the gate through which the calls of the process go.
 */
export const beginLife = (
  chaos: Chaos,
  fn: string,
  run: number,
  timeout: Millis,
  gateOf: (chaos: Chaos, process: Process) => Gate = faultyGate,
): Life => {
  const { scheduler, rates } = chaos;
  const name = `${fn}-λ${run}`;
  const random = chaos.chanceOf(name);
  const process: Process = {
    name,
    function: fn,
    random,
    clockOffset: random.int(-rates.skew, rates.skew),
    endsAt: scheduler.now + timeout,
    outlivesTimeout: false,
  };
  const machine = machineOf(chaos, process);
  const clock = new StoreClock();
  return {
    name,
    function: fn,
    gate: gateOf(chaos, process),
    dated: (gate) => dated(gate, clock, machine, scheduler),
    storeNow: () => clock.now(machine.now()),
    random,
    lag: () => random.int(0, MAX_LAG),
    invocation: { timeLeft: () => process.endsAt - scheduler.now },
    machine,
    report: (event) => {
      chaos.trace(() => `${name}  · ${brief(event)}`);
      const defect = defectReportedIn(name, event, chaos.removed);
      if (defect) chaos.onViolation(defect);
    },
  };
};

/** A gate whose answers show the store's time in whole seconds, as the `Date` header of DynamoDB's answers does. */
const dated =
  (gate: Gate, clock: StoreClock, { now }: Deps['machine'], scheduler: Chaos['scheduler']): Gate =>
  async (call, effects) => {
    const sent = now();
    let date = Number.NaN;
    const answers = await gate(
      call,
      effects.map((effect) => () => {
        date = Math.floor(scheduler.now / SECOND) * SECOND;
        return effect();
      }),
    );
    clock.note({ sent, received: now(), date });
    return answers;
  };

/** Creates all ports of a process. */
export const startProcess = (around: Surroundings, life: Life): Started => ({
  name: life.name,
  deps: depsOf(around, life),
  invocation: life.invocation,
});

const machineOf = ({ scheduler, died, hindered }: Chaos, { name, random, clockOffset }: Process): Deps['machine'] => {
  let tokens = 0;
  return {
    now: () => scheduler.now + clockOffset,
    sleep: (duration) => scheduler.wait(duration),
    within: (limit, work) =>
      new Promise((resolve, reject) => {
        let isDone = false;
        scheduler.after(Math.max(0, limit), () => {
          // Do nothing if the process has died meanwhile.
          if (isDone || died.has(name)) return;
          hindered.add(name);
          reject(new TimeIsUp(limit));
        });
        const working = work();
        working.then(resolve, reject).finally(() => {
          isDone = true;
        });
      }),
    random: () => random.next(),
    token: () => {
      tokens += 1;
      return `${name}.${tokens}` as Token;
    },
  };
};

/**
 * Executes the work of a function. If it throws, its messages are delivered again. An error that no injected fault
 * explains is a defect of the code, and ends the schedule.
 */
export const attempt = async <T>(chaos: Chaos, name: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    failed(chaos, name, cause);
    return otherwise;
  }
};

/** Reports a step that failed. */
export const failed = (chaos: Chaos, name: string, cause: unknown): void => {
  chaos.trace(() => `${name}  failed: ${String(cause)}`);
  const defect = defectOf(name, cause, chaos.removed);
  if (defect) chaos.onViolation(defect);
};

/** The stores that a process uses, with their charges for capacity. */
const stores = (around: Surroundings, { name, gate, dated, lag, storeNow }: Life) => {
  const { config, tables, slotsPerPage, throttle } = around;
  const all = {
    tasks: memoryTasks(tables, gate, lag),
    waiting: memoryWaiting(tables, gate, lag),
    locks: memoryLocks(tables, gate, lag, slotsPerPage, keepTasksIn(config)),
    batches: memoryBatches(tables, gate, lag),
    operations: memoryOperations(tables, gate, lag, slotsPerPage),
    buckets: memoryBuckets(tables, dated(gate), storeNow),
  };
  if (!throttle) return all;
  const { prices } = throttle;
  const spend = (spent: readonly Spent[]): Promise<void> => throttle.spend(name, spent);
  return {
    tasks: throttled(all.tasks, prices.tasks, spend),
    waiting: throttled(all.waiting, prices.waiting, spend),
    locks: throttled(all.locks, prices.locks, spend),
    batches: throttled(all.batches, prices.batches, spend),
    operations: throttled(all.operations, prices.operations, spend),
    buckets: throttled(all.buckets, prices.buckets, spend),
  };
};

const depsOf = (around: Surroundings, life: Life): Deps => {
  const { gate, lag, machine, report } = life;
  const { config, tables, queues, rejected, givenUp, sentCallbacks, nodeSize = FULL_SIZE } = around;
  const fanOuts = memoryFanOuts(tables, gate, nodeSize, lag);
  return {
    config,
    ...stores(around, life),
    fanOuts,
    lists: memoryLists(tables, gate, nodeSize),
    queues: memoryQueues(queues, rejected, gate, sentCallbacks, givenUp),
    deadLetters: memoryDeadLetters(queues, rejected, gate, givenUp),
    patrolMarks: {
      read: () => through(gate, 'patrolMarks.read', () => tables.patrolMark),
      write: (mark) =>
        through(gate, 'patrolMarks.write', () => {
          tables.patrolMark = mark;
        }),
    },
    downstreamOf: (operation) => {
      const { merge, keepTasks } = operationFor(config, operation);
      const inner = around.downstream(life);
      const processed = (around.processed ?? ((keys) => keys))(memoryProcessed(tables, gate));
      return merge ? mergingDownstream(inner, { ...merge, keepTasks, processed, machine, report }) : inner;
    },
    powers: {
      producers: everyProducer(config.producers ?? {}, LOCAL_SENDER.id),
      mode: async () => config.producerRules ?? 'enforce',
      itemKeys: rememberedItemKeys(fanOuts),
    },
    machine,
    report,
  };
};
