/** The actions of people in a schedule: they flush, cancel, pause, resume and redrive, and run the doctor. */

import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { LOCAL_SENDER } from '../../src/domain/producers/sender.ts';
import { printRedrive } from '../../src/domain/register/redrive-message.ts';
import type { Rejection } from '../../src/domain/register/rejection.ts';
import type { TaskRun } from '../../src/domain/tasks/task.ts';
import { LEADER_TIMEOUT, MINUTE } from '../../src/domain/timings.ts';
import { attempt } from '../../src/processes/process.ts';
import type { Deps } from '../../src/steps/deps.ts';
import { flush } from '../../src/steps/lead/flush.ts';
import { askResumeOperation, askResumeTarget, pauseOperation, pauseTarget } from '../../src/steps/slots/pauses.ts';
import { cancel } from '../../src/steps/tasks/settle.ts';
import { isObject, parseJson } from '../../src/util/json-text.ts';
import type { Account } from './account.ts';
import { doctor } from './doctor.ts';

/** Longer than any pause of a process. */
export const LONGEST_PAUSE: Millis = 5 * MINUTE;

/** Longer than any request for a pause can take. Its function may itself be paused twice. */
const SLOWEST: Millis = 8 * MINUTE;

export class People {
  readonly #account: Account;
  /** Flushes that were answered. */
  readonly flushes: { target: Target; at: Millis }[] = [];
  /** Redrives that were requested. */
  readonly redriven: TaskRun[] = [];

  constructor(account: Account) {
    this.#account = account;
  }

  /** A person flushes a Target. The answer for a Target without tasks is empty. */
  async flush(target: Target): Promise<void> {
    const at = this.#account.now;
    const waiting = await this.#ask('flush', (deps) => flush(deps, target));
    if (waiting !== undefined) this.flushes.push({ target, at });
  }

  /** A person cancels a task. @param asksAgain whether the person repeats a request without an answer */
  cancel(id: TaskId, asksAgain: boolean): void {
    let isAnswered = false;
    this.#ask('cancel', async (deps) => {
      await (this.#account.scenario.steps?.cancel ?? cancel)(deps, id);
      isAnswered = true;
    });
    const { simulation, quiet, now } = this.#account;
    if (asksAgain)
      simulation.scheduler.after(LONGEST_PAUSE + quiet(now), () => {
        if (!isAnswered) this.cancel(id, asksAgain);
      });
  }

  /** A person pauses an operation or a Target, and resumes it later. */
  pause(of: OperationName | Target, lasts: Millis): void {
    this.#ask<unknown>('pause', (deps) =>
      this.#isOperation(of) ? pauseOperation(deps, of) : pauseTarget(deps, of as Target),
    );
    this.#account.simulation.scheduler.after(lasts, () => this.#resume(of, Math.ceil(SLOWEST / MINUTE)));
  }

  /** Resumes until no pause is left, and then `more` times, because the pause request may take effect late. */
  #resume(of: OperationName | Target, more: number): void {
    this.#account.again(MINUTE, () => {
      if (more > 0 || this.#isPaused(of)) this.#resume(of, more - 1);
    });
    this.#ask<unknown>('resume', (deps) =>
      this.#isOperation(of) ? askResumeOperation(deps, of) : askResumeTarget(deps, of as Target),
    );
  }

  /** Whether the name is that of an operation (and not that of a Target). */
  #isOperation(name: string): name is OperationName {
    return Object.hasOwn(this.#account.scenario.config.operations, name);
  }

  #isPaused(of: OperationName | Target): boolean {
    const { operations, locks } = this.#account.tables;
    return (operations.get(of as OperationName) ?? locks.get(of as Target))?.paused !== undefined;
  }

  /** A person redrives all failed tasks, `times` times. */
  redrive(times: number): void {
    const { tables, queues } = this.#account;
    const failed = [...tables.tasks.values()].filter(({ state }) => state.status === 'failed');
    for (const { id, run } of Array.from({ length: times }, () => failed).flat()) {
      this.redriven.push({ id, run });
      queues.register.send(printRedrive({ id, run }), 0, { sender: { ...LOCAL_SENDER, via: 'api' } });
    }
  }

  /**
   * A person sends again all messages that were refused because their operation was not configured. A task of such a
   * message may already exist and wait for the operation.
   */
  sendAgain(rejected: readonly Rejection[], send: (body: string) => void): void {
    for (const { body, problems } of rejected) {
      const json = parseJson(body);
      const operation = json.ok && isObject(json.value) ? json.value.operation : undefined;
      const isKnownNow = typeof operation === 'string' && this.#isOperation(operation);
      if (isKnownNow && problems.some(({ path }) => path === 'operation')) send(body);
    }
  }

  callDoctor(): void {
    this.#ask('doctor', doctor);
  }

  /** Handles a person's request in a process of its own. @returns its answer, or undefined if the request failed */
  #ask<T>(fn: string, step: (deps: Deps) => Promise<T>): Promise<T | undefined> {
    const { name, deps } = this.#account.start(fn, LEADER_TIMEOUT);
    return attempt(this.#account.simulation.chaos, name, () => step(deps), undefined);
  }
}
