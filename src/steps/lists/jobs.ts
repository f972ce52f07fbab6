/**
 * Reads the state of a list's jobs: which jobs are done according to the list's tracker, how many jobs are in each
 * state, and pages of jobs for display.
 */

import pLimit from 'p-limit';
import { itemIdOf } from '../../domain/fan-out-ids.ts';
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import { itemOf, type ListId, listOf, type Range, taskOf, trackerOf } from '../../domain/lists/ids.ts';
import { endOf, freshOf, handsOut, isFree, type Job, type Lease, type List } from '../../domain/lists/list.ts';
import type { Task } from '../../domain/tasks/task.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import type { JobResult } from '../../ports/lists.ts';
import { bytesInString } from '../../util/json-text.ts';
import type { ListDeps, TaskDeps } from '../deps.ts';
import { progressOf } from '../fan-outs/progress.ts';

/** The outcomes of those jobs of a range that are done, by job token. */
export const doneIn = async (
  fanOuts: Pick<FanOuts, 'node' | 'width'>,
  id: ListId,
  range: Range,
): Promise<ReadonlyMap<number, ItemOutcome>> => {
  const { width } = fanOuts;
  const done = new Map<number, ItemOutcome>();
  for (let n = Math.floor(range.first / width); n * width < endOf(range); n += 1) {
    const node = await fanOuts.node(trackerOf(id), { level: 0, n });
    const [from, to] = [Math.max(range.first, n * width), Math.min(endOf(range), (n + 1) * width)];
    for (let token = from; token < to; token += 1) {
      const slot = node?.slots[token - n * width] ?? null;
      if (slot !== null) done.set(token, slot ? 'succeeded' : 'failed');
    }
  }
  return done;
};

export interface ListProgress {
  /** Number of jobs that can be handed out now. */
  readonly available: number;
  /** Number of jobs that workers have claimed. */
  readonly leased: number;
  /** Number of jobs that were turned into tasks and are not done. */
  readonly started?: number;
  readonly succeeded?: number;
  /**
   * Number of failed jobs. If `started` and `succeeded` are absent, more jobs may have failed. They are absent if the
   * list is too large to be counted while it runs, or if its rows were deleted some time after it was cancelled.
   */
  readonly failed: number;
}

type Sight = Pick<FanOuts, 'node' | 'width'>;

/** Number of leases that are read at once. */
const LEASES_AT_ONCE = 8;

export const listProgress = async (fanOuts: FanOuts, list: List, now: Millis): Promise<ListProgress> => {
  // The outcomes of a cancelled list are stored only in its rows, and these rows have been deleted.
  if (list.status === 'cancelled' && list.checkAt === undefined) return { available: 0, leased: 0, failed: 0 };
  const { succeeded, failed } = await progressOf(fanOuts, list);
  // Leases of a complete list were left by workers that died after all jobs of their lease were done. So do not count
  // them.
  if (list.status === 'complete')
    return { available: 0, leased: 0, started: 0, ...(succeeded === undefined ? {} : { succeeded }), failed };
  const free = await openIn(fanOuts, list, (lease) => isFree(lease, now));
  const leased = await openIn(fanOuts, list, (lease) => !isFree(lease, now));
  const fresh = freshOf(list);
  return {
    available: handsOut(list) ? fresh + free : 0,
    leased,
    ...(succeeded === undefined
      ? {}
      : // This was read a moment later, so some of these jobs may be done by now.
        { started: Math.max(0, list.total - fresh - free - leased - succeeded - failed), succeeded }),
    failed,
  };
};

/** Number of jobs that can be handed out now. */
export const availableIn = async (fanOuts: Sight, list: List, now: Millis): Promise<number> =>
  handsOut(list) ? freshOf(list) + (await openIn(fanOuts, list, (lease) => isFree(lease, now))) : 0;

/** Number of jobs that are not done, of the leases for which `fits` returns true. */
const openIn = async (fanOuts: Sight, list: List, fits: (lease: Lease) => boolean): Promise<number> => {
  const id = listOf(list.id);
  const counts = await pLimit(LEASES_AT_ONCE).map(
    list.leases.filter(fits),
    async (lease) => lease.count - (await doneIn(fanOuts, id, lease)).size,
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

export interface ShownJob extends Job {
  /** `started`: the job was turned into a task, or soon will be. */
  readonly status: 'waiting' | 'leased' | 'started' | ItemOutcome;
  /** The task that was made from this job. */
  readonly task?: TaskId;
  /** JSON text. */
  readonly result?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface JobsPage {
  readonly jobs: readonly ShownJob[];
  /** The job token with which the next page begins. */
  readonly next?: number;
}

/** The largest size of one response in bytes, as encoded. */
const PAGE_BYTES = 4_000_000;
/** Number of jobs that are read at once. Each may have a payload and a result of 256 KB. */
const READ_AT_ONCE = 25;

/** @param list the list as it was read before. Of a lease that was given since then, only the results are visible. */
export const jobsPage = async (
  deps: ListDeps & TaskDeps,
  list: List,
  { from, limit }: { readonly from: number; readonly limit: number },
): Promise<JobsPage> => {
  const end = Math.min(from + limit, list.total);
  const jobs: ShownJob[] = [];
  let bytes = 0;
  let next = from;
  while (next < end) {
    const part = await shownJobs(deps, list, next, Math.min(READ_AT_ONCE, end - next));
    // The jobs have been deleted.
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

/** Reads `count` jobs at once. */
const shownJobs = async (
  { lists, fanOuts, tasks, machine }: ListDeps & TaskDeps,
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
      const status = openStatusOf(list, token, now);
      return { ...job, status, ...(status === 'started' && list.operation !== undefined ? { task } : {}) };
    }
    const item = itemIdOf(itemOf(id, token, fanOuts.width));
    const stored = taskNamed.get(task);
    return {
      ...job,
      status: outcome,
      ...reportedResult(resultOf.get(token), outcome),
      // Use only the task of this job: another task may have this id, or a redriven task may have ended with another
      // outcome.
      ...(stored?.fanOutItem === item ? { task, ...taskResult(stored, outcome) } : {}),
    };
  });
};

const openStatusOf = (list: List, token: number, now: number): 'waiting' | 'leased' | 'started' => {
  if (token >= list.head) return 'waiting';
  const lease = list.leases.find((each) => each.first <= token && token < endOf(each));
  if (!lease) return 'started';
  return isFree(lease, now) ? 'waiting' : 'leased';
};

/**
 * The result that a worker reported for the job. If two workers had the job, the outcome that stands may be the other
 * worker's. So a result with another outcome is left out.
 */
const reportedResult = (said: JobResult | undefined, outcome: ItemOutcome): Pick<ShownJob, 'result' | 'error'> =>
  said?.outcome !== outcome
    ? {}
    : {
        ...(said.result === undefined ? {} : { result: said.result }),
        ...(said.error === undefined ? {} : { error: said.error }),
      };

const taskResult = ({ state }: Task, outcome: ItemOutcome): Pick<ShownJob, 'result' | 'error'> => {
  if (state.status !== outcome) return {};
  if (state.status === 'succeeded') return state.result === undefined ? {} : { result: state.result };
  if (state.status !== 'failed') return {};
  const { code, message } = state.error;
  return { error: { code, message } };
};
