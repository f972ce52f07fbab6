/** The jobs of a list, and how each stands: for whoever looks. */

import { itemIdOf } from '../../domain/fan-out-ids.ts';
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import type { TaskId } from '../../domain/ids.ts';
import { itemOf, listOf, taskOf } from '../../domain/lists/ids.ts';
import { endOf, isFree, type Job, type List } from '../../domain/lists/list.ts';
import type { Task } from '../../domain/tasks/task.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import type { JobResult, Lists } from '../../ports/lists.ts';
import type { Machine } from '../../ports/machine.ts';
import type { Tasks } from '../../ports/tasks.ts';
import { bytesInString } from '../../util/json-text.ts';
import { doneIn } from './done.ts';

export interface ShownJob extends Job {
  /** `started`: it is a task, or about to be one. */
  readonly status: 'waiting' | 'leased' | 'started' | ItemOutcome;
  /** The task that it is, or was. */
  readonly task?: TaskId;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface JobsPage {
  readonly jobs: readonly ShownJob[];
  /** With which token it goes on. */
  readonly next?: number;
}

/** What an answer has room for, in bytes as they count there. */
const PAGE_BYTES = 4_000_000;
/** Jobs that are read at once: each may have a payload and a result of 256 KB. */
const READ_AT_ONCE = 25;

export interface JobsPageDeps {
  readonly lists: Pick<Lists, 'jobs' | 'results'>;
  readonly fanOuts: Pick<FanOuts, 'node' | 'width'>;
  readonly tasks: Pick<Tasks, 'all'>;
  readonly machine: Pick<Machine, 'now'>;
}

/** @param list read before: what somebody got since then shows by what he did */
export const jobsPage = async (
  deps: JobsPageDeps,
  list: List,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<JobsPage> => {
  const end = Math.min(from + limit, list.total);
  const jobs: ShownJob[] = [];
  let bytes = 0;
  let next = from;
  while (next < end) {
    const part = await shownJobs(deps, list, next, Math.min(READ_AT_ONCE, end - next));
    // They have been cleared away.
    if (part.length === 0) return { jobs };
    for (const job of part) {
      bytes += bytesOf(job);
      if (bytes > PAGE_BYTES && jobs.length > 0) return { jobs, next };
      jobs.push(job);
      next = job.token + 1;
    }
  }
  return next < list.total ? { jobs, next } : { jobs };
};

const bytesOf = ({ payload, result = '', error }: ShownJob): number =>
  bytesInString(payload) + bytesInString(result) + (error ? bytesInString(JSON.stringify(error)) : 0);

/** As many of them as are read at once. */
const shownJobs = async (
  { lists, fanOuts, tasks, machine }: JobsPageDeps,
  list: List,
  first: number,
  count: number,
): Promise<readonly ShownJob[]> => {
  const id = listOf(list.id);
  const jobs = await lists.jobs(id, { first, count });
  const range = { first, count: jobs.length };
  const done = await doneIn(fanOuts, id, range);
  const ended = [...done.keys()];
  const results = ended.length > 0 ? await lists.results(id, range) : [];
  const known =
    list.operation === undefined || ended.length === 0 ? [] : await tasks.all(ended.map((n) => taskOf(id, n)));
  const [resultOf, taskNamed] = [
    new Map(results.map((result) => [result.token, result])),
    new Map(known.map((task) => [task.id, task])),
  ];
  const now = machine.now();
  return jobs.map((job): ShownJob => {
    const { token } = job;
    const task = taskOf(id, token);
    const outcome = done.get(token);
    if (outcome === undefined) {
      const status = standingOf(list, token, now);
      return { ...job, status, ...(status === 'started' && list.operation !== undefined ? { task } : {}) };
    }
    const item = itemIdOf(itemOf(id, token, fanOuts.width));
    const stored = taskNamed.get(task);
    return {
      ...job,
      status: outcome,
      ...saidOf(resultOf.get(token), outcome),
      // Another one may have the name, and one that was redriven may have ended otherwise.
      ...(stored?.fanOutItem === item ? { task, ...toldBy(stored, outcome) } : {}),
    };
  });
};

const standingOf = (list: List, token: number, now: number): 'waiting' | 'leased' | 'started' => {
  if (token >= list.head) return 'waiting';
  const lease = list.leases.find((each) => each.first <= token && token < endOf(each));
  if (!lease) return 'started';
  return isFree(lease, now) ? 'waiting' : 'leased';
};

/** What whoever had claimed it said; of two with one job the other one's outcome may stand. */
const saidOf = (said: JobResult | undefined, outcome: ItemOutcome): Pick<ShownJob, 'result' | 'error'> =>
  said?.outcome !== outcome
    ? {}
    : {
        ...(said.result === undefined ? {} : { result: said.result }),
        ...(said.error === undefined ? {} : { error: said.error }),
      };

const toldBy = ({ state }: Task, outcome: ItemOutcome): Pick<ShownJob, 'result' | 'error'> => {
  if (state.status !== outcome) return {};
  if (state.status === 'succeeded') return state.result === undefined ? {} : { result: state.result };
  if (state.status !== 'failed') return {};
  const { code, message } = state.error;
  return { error: { code, message } };
};
