/** One run of a function in a schedule: a process of its own, with its own clock and its own bad luck. */
import type { Deps } from '../batching/deps.ts';
import type { Millis, Token } from '../batching/ids.ts';
import type { Rejection } from '../batching/rejection.ts';
import type { CallbackMessage } from '../callbacks/callback.ts';
import { type Config, operationFor } from '../config/resolved.ts';
import { FULL_SIZE, type NodeSize } from '../fan-out/tree.ts';
import { mergingDownstream } from '../merging/merging-downstream.ts';
import type { Invocation, WorkingQueue } from '../ports.ts';
import type { Chaos } from './chaos.ts';
import { defectOf, defectToldIn } from './defects.ts';
import { faultyGate, type Process } from './faults.ts';
import { type Gate, through } from './gate.ts';
import { memoryBatches } from './memory-batches.ts';
import { memoryFanOuts } from './memory-fan-outs.ts';
import { memoryLists } from './memory-lists.ts';
import { memoryLocks } from './memory-locks.ts';
import { memoryOperations } from './memory-operations.ts';
import { memoryProcessed } from './memory-processed.ts';
import { memoryDeadLetters, memoryQueues } from './memory-queues.ts';
import { memoryTasks } from './memory-tasks.ts';
import { memoryWaiting } from './memory-waiting.ts';
import type { SimulatedQueue } from './queue.ts';
import type { Random } from './random.ts';
import { type Lag, MAX_LAG } from './remembered.ts';
import { type CallLog, simulatedDownstream } from './simulated-downstream.ts';
import type { Tables } from './tables.ts';
import { brief } from './trace.ts';

/** What all processes of a schedule share. */
export interface Surroundings {
  readonly config: Config;
  readonly chaos: Chaos;
  readonly tables: Tables;
  readonly queues: Readonly<Record<WorkingQueue, SimulatedQueue>>;
  readonly rejected: Rejection[];
  /** What initiators were told. */
  readonly told: Pick<CallbackMessage[], 'push'>;
  readonly log: CallLog;
  /** @default - that of DynamoDB's rows */
  readonly nodeSize?: NodeSize;
}

export interface Started {
  readonly name: string;
  readonly deps: Deps;
  readonly invocation: Invocation;
}

/** A process, and what it has of the world by itself. */
export interface Life extends Pick<Deps, 'machine' | 'report'> {
  readonly name: string;
  readonly gate: Gate;
  readonly random: Random;
  /** How far an eventually consistent read is behind. */
  readonly lag: Lag;
  readonly invocation: Invocation;
}

/** Begins a process that its platform ends after `timeout`. */
export const beginLife = (chaos: Chaos, fn: string, run: number, timeout: Millis): Life => {
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
  return {
    name,
    gate: faultyGate(chaos, process),
    random,
    lag: () => random.int(0, MAX_LAG),
    invocation: { timeLeft: () => process.endsAt - scheduler.now },
    machine: machineOf(chaos, process),
    report: (event) => {
      chaos.trace(() => `${name}  · ${brief(event)}`);
      const defect = defectToldIn(name, event);
      if (defect) chaos.onViolation(defect);
    },
  };
};

/** Starts a process that has everything. */
export const startProcess = (around: Surroundings, fn: string, run: number, timeout: Millis): Started => {
  const life = beginLife(around.chaos, fn, run, timeout);
  return { name: life.name, deps: depsOf(around, life), invocation: life.invocation };
};

const machineOf = ({ scheduler }: Chaos, { name, random, clockOffset }: Process): Deps['machine'] => {
  let tokens = 0;
  return {
    now: () => scheduler.now + clockOffset,
    sleep: (duration) => scheduler.wait(duration),
    random: () => random.next(),
    token: () => {
      tokens += 1;
      return `${name}.${tokens}` as Token;
    },
  };
};

/** Functions that throw give their messages back. What no fault explains ends the run: it is the code's own. */
export const attempt = async <T>(chaos: Chaos, name: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    failed(chaos, name, cause);
    return otherwise;
  }
};

/** Tells of a step that failed. */
export const failed = (chaos: Chaos, name: string, cause: unknown): void => {
  chaos.trace(() => `${name}  failed: ${String(cause)}`);
  const defect = defectOf(name, cause);
  if (defect) chaos.onViolation(defect);
};

const depsOf = (around: Surroundings, { gate, random, lag, machine, report }: Life): Deps => {
  const { config, chaos, tables, queues, rejected, told, log, nodeSize = FULL_SIZE } = around;
  return {
    config,
    tasks: memoryTasks(tables, gate, lag),
    waiting: memoryWaiting(tables, gate, lag),
    locks: memoryLocks(tables, gate, lag),
    batches: memoryBatches(tables, gate, lag),
    operations: memoryOperations(tables, gate),
    fanOuts: memoryFanOuts(tables, gate, nodeSize, lag),
    lists: memoryLists(tables, gate, nodeSize),
    queues: memoryQueues(queues, rejected, gate, told),
    deadLetters: memoryDeadLetters(queues, rejected, gate),
    patrolMarks: {
      read: () => through(gate, 'patrolMarks.read', () => tables.patrolMark),
      write: (mark) =>
        through(gate, 'patrolMarks.write', () => {
          tables.patrolMark = mark;
        }),
    },
    downstreamOf: (operation) => {
      const { merge, keepTasks } = operationFor(config, operation);
      const inner = simulatedDownstream({ chaos, random, log, gate, config, jobs: queues.batch });
      const processed = memoryProcessed(tables, gate);
      return merge ? mergingDownstream(inner, { ...merge, keepTasks, processed, machine, report }) : inner;
    },
    machine,
    report,
  };
};
