/** What people do in a schedule: they flush, cancel, pause and resume, redrive, and call the doctor. */

import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import type { TaskRun } from '../../src/domain/tasks/task.ts';
import { LEADER_TIMEOUT, MINUTE } from '../../src/domain/timings.ts';
import type { SimulatedQueue } from '../../src/memory/queue.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { attempt, type Started } from '../../src/processes/process.ts';
import { flush } from '../../src/steps/lead/elect-leader.ts';
import { askResumeOperation, askResumeTarget, pauseOperation, pauseTarget } from '../../src/steps/slots/pauses.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { doctor } from './doctor.ts';
import type { Quiet } from './quiet.ts';

/** Longer than any process is paused. */
export const LONGEST_PAUSE: Millis = 5 * MINUTE;

/** Longer than whoever pauses something may take: their function may be paused twice. */
const SLOWEST: Millis = 8 * MINUTE;

interface Surroundings {
  readonly chaos: Chaos;
  readonly tables: Tables;
  readonly registerQueue: SimulatedQueue;
  readonly start: (name: string, timeout: Millis) => Started;
  readonly quiet: Quiet;
  /** Whether a name is that of an operation, and not of a Target. */
  readonly isOperation: (name: string) => boolean;
}

export class People {
  readonly #around: Surroundings;
  /** Flushes that were answered. */
  readonly flushes: { target: Target; at: Millis }[] = [];
  /** Redrives that were asked for. */
  readonly redriven: TaskRun[] = [];

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Somebody flushes a Target; one that has no task yet is answered with nothing. */
  async flush(target: Target): Promise<void> {
    const { chaos, start } = this.#around;
    const { name, deps } = start('flush', LEADER_TIMEOUT);
    const at = chaos.scheduler.now;
    const waiting = await attempt(chaos, name, () => flush(deps, target), undefined);
    if (waiting !== undefined) this.flushes.push({ target, at });
  }

  /** Somebody cancels a task. @param asksAgain whether they do where they get no answer */
  cancel(id: TaskId, asksAgain: boolean): void {
    const { chaos, start, quiet } = this.#around;
    const { scheduler } = chaos;
    const { name, deps } = start('cancel', LEADER_TIMEOUT);
    let isAnswered = false;
    const work = async (): Promise<void> => {
      await cancel(deps, id);
      isAnswered = true;
    };
    attempt(chaos, name, work, undefined);
    if (asksAgain)
      scheduler.after(LONGEST_PAUSE + quiet(scheduler.now), () => {
        if (!isAnswered) this.cancel(id, asksAgain);
      });
  }

  /** Somebody pauses something; he, or somebody after him, resumes it. */
  pause(of: OperationName | Target, lasts: Millis): void {
    const { chaos, start, isOperation } = this.#around;
    const { name, deps } = start('pause', LEADER_TIMEOUT);
    const begin = () => (isOperation(of) ? pauseOperation(deps, of as OperationName) : pauseTarget(deps, of as Target));
    attempt(chaos, name, begin, undefined);
    chaos.scheduler.after(lasts, () => this.#resume(of, Math.ceil(SLOWEST / MINUTE)));
  }

  /** He asks until it is over; and some more, since whoever paused it may have been slow. */
  async #resume(of: OperationName | Target, more: number): Promise<void> {
    const { chaos, start, isOperation, quiet } = this.#around;
    const { name, deps } = start('resume', LEADER_TIMEOUT);
    const ask = () =>
      isOperation(of) ? askResumeOperation(deps, of as OperationName) : askResumeTarget(deps, of as Target);
    chaos.scheduler.after(Math.max(MINUTE, quiet(chaos.scheduler.now)), () => {
      if (more > 0 || this.#isPaused(of)) this.#resume(of, more - 1);
    });
    await attempt(chaos, name, ask, undefined);
  }

  #isPaused(of: OperationName | Target): boolean {
    const { operations, locks } = this.#around.tables;
    return (operations.get(of as OperationName) ?? locks.get(of as Target))?.paused !== undefined;
  }

  /** Somebody looks for failed tasks and asks for another run of each; some ask more than once. */
  redrive(times: number): void {
    const { tables, registerQueue } = this.#around;
    const failed = [...tables.tasks.values()].filter(({ state }) => state.status === 'failed');
    for (const { id, run } of Array.from({ length: times }, () => failed).flat()) {
      this.redriven.push({ id, run });
      registerQueue.send(printRedrive({ id, run }));
    }
  }

  /** Somebody sends again what was refused since its operation was not configured. A task of it may be there already, and wait for that. */
  sendAgain(rejected: readonly Rejection[], send: (body: string) => void): void {
    const { isOperation } = this.#around;
    for (const { body, problems } of rejected) {
      const json = parseJson(body);
      const operation = json.ok && isObject(json.value) ? json.value.operation : undefined;
      const isKnownNow = typeof operation === 'string' && isOperation(operation);
      if (isKnownNow && problems.some(({ path }) => path === 'operation')) send(body);
    }
  }

  callDoctor(): void {
    const { chaos, start } = this.#around;
    const { name, deps } = start('doctor', LEADER_TIMEOUT);
    attempt(chaos, name, () => doctor(deps), undefined);
  }
}
