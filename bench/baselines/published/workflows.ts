/** Runs leader workflows, and restarts dead ones if the reading says so. */

import { type Config, operationFor } from '../../../src/domain/config/resolved.ts';
import { type BatchId, type Millis, operationOf, type Target, type TaskId } from '../../../src/domain/ids.ts';
import { MINUTE } from '../../../src/domain/timings.ts';
import { attempt } from '../../../src/processes/process.ts';
import type { Chaos } from '../../../src/virtual/chaos.ts';
import { type Gate, through } from '../../../src/virtual/gate.ts';
import type { Random } from '../../../src/virtual/random.ts';
import { type LeaderDeps, POLL, runLeader, type Workflow } from './leader.ts';
import type { Reading } from './reading.ts';
import { simulatedTables } from './simulated-tables.ts';
import type { Store } from './store.ts';

/** The time without an action after which a workflow counts as dead. Messages of Groupage have the same limit. */
const SILENCE: Millis = MINUTE;

/** One execution of a function or a workflow: its gate and its clock. */
export interface Run {
  readonly name: string;
  readonly gate: Gate;
  readonly random: Random;
  readonly now: () => Millis;
}

export interface Surroundings {
  readonly config: Config;
  readonly chaos: Chaos;
  readonly store: Store;
  readonly reading: Reading;
  readonly start: (fn: string, timeout: Millis) => Run;
  readonly sendBatch: (id: BatchId) => void;
}

export class Workflows {
  readonly #around: Surroundings;
  #names = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Starts the election for a task. */
  elect(task: TaskId, target: Target): void {
    this.#lead({ id: this.#name('leader'), target, task, taken: new Set(), plan: undefined, hasEnded: false });
  }

  #lead(workflow: Workflow): void {
    const { chaos, start, reading } = this.#around;
    const { scheduler } = chaos;
    const run = start('leader', Number.POSITIVE_INFINITY);
    const life = { seenAt: scheduler.now, isOver: false };
    const deps = this.#depsOf(run, workflow.target, life);
    attempt(chaos, run.name, () => runLeader(deps, workflow), undefined);
    const look = (): void => {
      if (workflow.hasEnded) return;
      life.isOver = scheduler.now - life.seenAt >= SILENCE;
      if (life.isOver) this.#lead(workflow);
      else scheduler.after(SILENCE, look);
    };
    if (reading.restarts) scheduler.after(SILENCE, look);
  }

  #depsOf({ name, gate, now }: Run, target: Target, life: Life): LeaderDeps {
    const { config, chaos, store, reading, sendBatch } = this.#around;
    const { maxSize, maxWait } = operationFor(config, operationOf(target)).batch;
    const goOn = async (): Promise<void> => {
      // An execution that was only paused does not continue if another execution has replaced it.
      if (life.isOver) await new Promise(() => {});
      life.seenAt = chaos.scheduler.now;
    };
    const sleep = async (duration: Millis): Promise<void> => {
      await chaos.scheduler.wait(duration);
      await goOn();
    };
    return {
      tables: simulatedTables(store, gate, now),
      reading,
      maxSize,
      maxWait,
      now,
      sleep,
      newBatchId: () => this.#name('batch') as BatchId,
      sendBatch: (id) => through(gate, 'queues.batch', () => sendBatch(id)),
      untilDone: async (step) => {
        for (;;) {
          const done = await attempt(chaos, name, async () => ({ answer: await step() }), undefined);
          await goOn();
          if (done) return done.answer;
          await sleep(POLL);
        }
      },
    };
  }

  #name(what: string): string {
    this.#names += 1;
    return `${what}-${this.#names}`;
  }
}

/** One execution of a workflow. */
interface Life {
  /** The time of the execution's last action. */
  seenAt: Millis;
  /** Whether another execution has replaced this one. */
  isOver: boolean;
}
