/** Ask for another run of failed tasks: by messages to the register queue, which does all the writing. */
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import type { Target, TaskId } from '../../domain/ids.ts';
import type { Page } from '../../domain/page.ts';
import type { TaskOutline, TaskRun } from '../../ports/tasks.ts';
import type { Deps } from '../deps.ts';
import { printRedrive, unknown, withoutOperation } from './redrive.ts';

type AskDeps = Pick<Deps, 'config' | 'tasks' | 'queues'>;

/** A task for which no other run was asked, and why not. */
interface Skipped {
  readonly id: TaskId;
  readonly reason: string;
  /** What it is instead of failed; `failed` where something else is in the way; undefined for one that is not there. */
  readonly status: TaskOutline['status'] | undefined;
}

interface Asked {
  readonly asked: readonly TaskRun[];
  readonly skipped: readonly Skipped[];
}

/** `dry`: look, and ask for nothing. */
export type How = 'dry' | 'for real';

/** Asks for another run of those of some tasks that failed. Twice is harmless: only the first message starts one. */
export const askRedrive = async (deps: AskDeps, ids: readonly TaskId[], how: How): Promise<Asked> => {
  const stored = await deps.tasks.outlines(ids);
  const asked: TaskRun[] = [];
  const skipped: Skipped[] = [];
  for (const [index, id] of ids.entries()) {
    const task = stored[index];
    const reason = task ? notNow(deps.config, task) : unknown(id);
    if (reason !== undefined) skipped.push({ id, reason, status: task?.status });
    else if (task) asked.push({ id, run: task.run });
  }
  if (how === 'for real' && asked.length > 0) await deps.queues.register(asked.map(printRedrive));
  return { asked, skipped };
};

/** Asks for another run of a Target's failed tasks, page by page. */
export const askRedriveOf = async (
  deps: AskDeps,
  target: Target,
  how: How,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Asked & Pick<Page<TaskRun>, 'cursor'>> => {
  const { items, ...next } = await deps.tasks.failed(target, limit, cursor);
  const { asked, skipped } = await askRedrive(deps, items, how);
  // The list is behind: one that does not fail any more was not asked about.
  return { ...next, asked, skipped: skipped.filter(({ status }) => status === 'failed') };
};

/** Why a task cannot have another run now, if it cannot. */
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
