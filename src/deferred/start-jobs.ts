/**
 * Start (D7): what a trigger took becomes tasks, some at a time, by the λ that registers tasks. Again is harmless: the tasks have their jobs' names, and a job that is done
 * starts no task any more.
 */
import { type ItemId, itemIdOf } from '../fan-out/ids.ts';
import type { ListDeps } from './deps.ts';
import { doneIn } from './done.ts';
import { itemOf, type ListId, taskOf } from './ids.ts';
import { countOf, type Job, partOf, type Range } from './list.ts';
import { takeJobs } from './trigger.ts';
import type { TriggerMessage } from './trigger-message.ts';

/** A job that is to be a task: the register message that it comes to, and the item that the task is. */
interface StartedJob {
  readonly body: string;
  readonly item: ItemId;
}

export interface Started {
  readonly jobs: readonly StartedJob[];
  /** What is to be sent once these are tasks, if there are more. */
  readonly next?: TriggerMessage;
}

/** Jobs that one message makes tasks of: a second's work, so that whoever comes behind it hardly waits. */
export const JOBS_AT_ONCE = 500;

type StartDeps = Pick<ListDeps, 'lists' | 'fanOuts' | 'machine'>;

export const startJobs = async (deps: StartDeps, message: TriggerMessage): Promise<Started> => {
  const { lists } = deps;
  const { list: id, token, count, from } = message;
  const taken = await takeJobs(deps, id, token, count);
  // Of a list that takes no trigger any more nothing was taken, and whoever asked has been told so.
  if (!('ranges' in taken)) return { jobs: [] };
  const list = await lists.read(id);
  if (!list || list.operation === undefined || list.status === 'expired') return { jobs: [] };
  const started: StartedJob[] = [];
  let position = from;
  // As many ranges as it takes, of which the last may be too large to be read at once.
  for (const range of partOf(taken.ranges, from, JOBS_AT_ONCE)) {
    const jobs = await lists.jobs(id, range);
    const open = await notDone(deps, id, range, jobs);
    for (const job of open) started.push(startedOf(deps, id, list.operation, job));
    position += jobs.length;
    if (jobs.length < range.count) break;
  }
  return {
    jobs: started,
    ...(position > from && position < countOf(taken.ranges) ? { next: { ...message, from: position } } : {}),
  };
};

const notDone = async ({ fanOuts }: StartDeps, id: ListId, range: Range, jobs: readonly Job[]) => {
  const done = await doneIn(fanOuts, id, range);
  return jobs.filter(({ token }) => !done.has(token));
};

const startedOf = ({ fanOuts }: StartDeps, id: ListId, operation: string, { token, payload }: Job): StartedJob => ({
  body: registerBody(operation, taskOf(id, token), payload),
  item: itemIdOf(itemOf(id, token, fanOuts.width)),
});

/** The payload goes in as it was sent. */
export const registerBody = (operation: string, task: string, payload: string): string =>
  `{"operation":${JSON.stringify(operation)},"id":${JSON.stringify(task)},"payload":${payload}}`;
