/**
 * Redrive: starts another run of a failed task (N4). A request only sends a message to the register queue, and the
 * register function does all writes. The register function first notifies for the failed run, because no function can
 * do so after the next run has started. A task cannot be claimed again into a batch of its earlier run, because the
 * candidates of a batch contain the run.
 */

import { isFinished } from '../../domain/batches/batch.ts';
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import type { Target, TaskId } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import { redriveProblem } from '../../domain/producers/rules.ts';
import type { Sender } from '../../domain/producers/sender.ts';
import { printRedrive } from '../../domain/register/redrive-message.ts';
import type { Refused, RegisterMessage } from '../../domain/register/register-message.ts';
import { batchIdIn, runNumber, storedRun, type Task, type TaskRun } from '../../domain/tasks/task.ts';
import type { TaskOutline } from '../../ports/tasks.ts';
import type { Problem } from '../../util/problems.ts';
import type { TaskDeps } from '../deps.ts';
import type { Judge } from '../producers/judge.ts';
import { needsNotification, notify } from './notify.ts';

/** A message that requests a redrive. */
export interface RedriveMessage {
  readonly message: RegisterMessage;
  readonly asked: TaskRun;
}

interface Redriven {
  /**
   * The tasks as they are now, without duplicates. A waiting task may still need its waiting row, even if an earlier
   * message redrove it.
   */
  readonly tasks: readonly Task[];
  readonly refused: readonly Refused[];
}

/** Starts the requested runs. A repeat is harmless: a task that is no longer in the named run is not changed. */
export const redrive = async (deps: TaskDeps, by: Judge, messages: readonly RedriveMessage[]): Promise<Redriven> => {
  const { config, tasks, machine, report } = deps;
  if (messages.length === 0) return { tasks: [], refused: [] };
  const ids = [...new Set(messages.map(({ asked }) => asked.id))];
  const read = await Promise.all(ids.map((id) => tasks.get(id)));
  const stored = new Map(read.flatMap((task) => (task ? [[task.id, task] as const] : [])));
  const judged = messages.map(({ message, asked }) => ({
    message,
    asked,
    ...judge(config, by, stored.get(asked.id), { message, asked }),
  }));
  const due = new Set(judged.flatMap(({ asked, does }) => (does === 'start' ? [asked.id] : [])));
  if (due.size > 0) {
    const failed = [...stored.values()].filter(({ id }) => due.has(id));
    await notifyBefore(deps, failed);
    const written = await tasks.redrive(failed, machine.now());
    const known = written.filter((each) => each !== undefined);
    for (const { stored: task } of known) stored.set(task.id, task);
    const begun = known.filter(({ isNew }) => isNew).map((each) => each.stored);
    for (const [operation, { length }] of Map.groupBy(begun, (task) => task.operation))
      report({ event: 'redriven', operation, tasks: length });
  }
  return {
    tasks: [...stored.values()].filter(({ operation }) => operationNamed(config, operation)),
    refused: judged.flatMap(({ message, problem }) => (problem ? [{ message, problems: [problem] }] : [])),
  };
};

/**
 * Notifies for failed runs before their next run starts, because no function can notify for them afterwards. For the
 * members of a finished batch this was done already. But a function that settled a waiting task may have died before it
 * notified.
 */
const notifyBefore = async (deps: TaskDeps, failed: readonly Task[]): Promise<void> => {
  const { config, batches } = deps;
  const wanted = failed.filter((task) => needsNotification(config, task));
  const ids = [...new Set(wanted.flatMap(({ state }) => batchIdIn(state) ?? []))];
  const read = await Promise.all(ids.map((id) => batches.get(id)));
  const over = new Set(read.flatMap((batch) => (batch && isFinished(batch.status) ? [batch.id] : [])));
  await notify(
    deps,
    wanted.filter(({ state }) => {
      const batch = batchIdIn(state);
      return batch === undefined || !over.has(batch);
    }),
  );
};

interface Judgement {
  readonly does: 'start' | 'nothing';
  readonly problem?: Problem;
}

/**
 * What a redrive does to a task. If the named run has been redriven already, or the task has not ended, this is no
 * error: the message was delivered twice or late.
 */
const judge = (
  config: Config,
  by: Judge,
  task: Task | undefined,
  { message, asked: { id, run } }: RedriveMessage,
): Judgement => {
  const refuse = (path: string, reason: string): Judgement => ({ does: 'nothing', problem: { path, reason } });
  if (!task) return refuse('id', unknown(id));
  const meant = storedRun(task, run);
  if (meant > task.run) return refuse('run', `is ${run}, but task ${id} is in run ${runNumber(task)}`);
  if (runNumber({ ...task, run: meant }) < 1)
    return refuse('run', `is ${run}, which belongs to an earlier task with the id ${id} that has expired`);
  const operation = operationNamed(config, task.operation);
  if (!operation) return refuse('id', withoutOperation(task));
  const problem = by.problem('redrive', redriveProblem, operation, message);
  if (problem) return { does: 'nothing', problem };
  return { does: meant < task.run || task.state.status !== 'failed' ? 'nothing' : 'start' };
};

/** The reason for an id of which no task exists. */
const unknown = (id: TaskId): string =>
  `there is no task ${id}: it was never registered, or has expired; send it again from its source`;
/** The reason for a task whose operation was removed from the configuration. */
const withoutOperation = ({ id, operation }: Pick<Task, 'id' | 'operation'>): string =>
  `the operation of task ${id}, ${operation}, is no longer configured`;

/** A task for which no run was requested, and why. */
interface Skipped {
  readonly id: TaskId;
  readonly reason: string;
  /** The task's status. `failed` if something else prevents the redrive. Undefined if the task does not exist. */
  readonly status: TaskOutline['status'] | undefined;
}

interface Asked {
  readonly asked: readonly TaskRun[];
  readonly skipped: readonly Skipped[];
}

/** `dry` only checks which tasks can be redriven, and requests nothing. */
export type How = 'dry' | 'for real';

/** Requests another run of each task that failed. A repeat is harmless: only the first message starts a run. */
export const askRedrive = async (deps: TaskDeps, ids: readonly TaskId[], how: How, sender?: Sender): Promise<Asked> => {
  const stored = await deps.tasks.outlines(ids);
  const asked: TaskRun[] = [];
  const skipped: Skipped[] = [];
  for (const [index, id] of ids.entries()) {
    const task = stored[index];
    const reason = task ? notNow(deps.config, task) : unknown(id);
    if (reason !== undefined) skipped.push({ id, reason, status: task?.status });
    else if (task) asked.push({ id, run: task.run });
  }
  if (how === 'for real' && asked.length > 0) await deps.queues.register(asked.map(printRedrive), sender);
  return { asked, skipped };
};

/** Requests another run of a Target's failed tasks, page by page. */
export const askRedriveOf = async (
  deps: TaskDeps,
  target: Target,
  how: How,
  { limit, cursor, sender }: { readonly limit: number; readonly cursor?: string | undefined; readonly sender?: Sender },
): Promise<Asked & Pick<Page<TaskRun>, 'cursor'>> => {
  const { items, ...next } = await deps.tasks.failed(target, limit, cursor);
  const { asked, skipped } = await askRedrive(deps, items, how, sender);
  // The index is eventually consistent. Leave out tasks that are not failed any more.
  return { ...next, asked, skipped: skipped.filter(({ status }) => status === 'failed') };
};

/** Why a task cannot have another run now. Undefined if it can. */
const notNow = (config: Config, task: TaskOutline): string | undefined => {
  switch (task.status) {
    case 'created':
      return 'it waits for its batch';
    case 'batched':
      return `it is under way, in batch ${task.batchId}`;
    case 'succeeded':
      return 'it has succeeded';
    case 'failed':
      return operationNamed(config, task.operation) ? undefined : withoutOperation(task);
  }
};
