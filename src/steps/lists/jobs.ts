/** Reads the state of a list's jobs: how many jobs are in each state, and pages of jobs for display. */

import { itemIdOf } from '../../domain/fan-out-ids.ts';
import type { ItemOutcome } from '../../domain/fan-outs/fan-out.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import { itemOf, listOf, taskOf } from '../../domain/lists/ids.ts';
import { freshOf, handsOut, isFree, type Job, type List, type OpenIn, openCount } from '../../domain/lists/list.ts';
import { countOf, hasJob, rangesOf, tokensOf } from '../../domain/lists/ranges.ts';
import type { Task } from '../../domain/tasks/task.ts';
import type { JobResult, Lists } from '../../ports/lists.ts';
import { bytesInString } from '../../util/json-text.ts';
import { inParts } from '../../util/parts.ts';
import type { ListDeps, TaskDeps } from '../deps.ts';
import { progressOf } from '../fan-outs/progress.ts';
import { doneIn, openIn, type Tracker } from './done.ts';
import { allLeases } from './gather.ts';
import { jobsWith, type OpenStatus } from './jobs-by-status.ts';

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

export const listProgress = async (
  { fanOuts, lists, machine }: Pick<ListDeps, 'fanOuts' | 'lists' | 'machine'>,
  list: List,
): Promise<ListProgress> => {
  // The outcomes of a cancelled list are stored only in its rows, and these rows have been deleted.
  if (list.status === 'cancelled' && list.checkAt === undefined) return { available: 0, leased: 0, failed: 0 };
  const { succeeded, failed } = await progressOf(fanOuts, list);
  // Leases of a complete list were left by workers that died after all jobs of their lease were done. So do not count
  // them.
  if (list.status === 'complete')
    return { available: 0, leased: 0, started: 0, ...(succeeded === undefined ? {} : { succeeded }), failed };
  const leases = await openLeases(fanOuts, lists, list);
  const now = machine.now();
  const free = countOf(leases.flatMap(({ lease, open }) => (isFree(lease, now) ? open : [])));
  const leased = countOf(leases.flatMap(({ lease, open }) => (isFree(lease, now) ? [] : open)));
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
export const availableIn = async (
  { fanOuts, lists, machine }: Pick<ListDeps, 'fanOuts' | 'lists' | 'machine'>,
  list: List,
): Promise<number> => {
  if (!handsOut(list)) return 0;
  const now = machine.now();
  const free = (await openLeases(fanOuts, lists, list)).filter(({ lease }) => isFree(lease, now));
  return freshOf(list) + openCount(free);
};

/** All leases of a list, with their jobs that are not done. */
const openLeases = async (fanOuts: Tracker, lists: Lists, list: List): Promise<readonly OpenIn[]> =>
  openIn(fanOuts, listOf(list.id), await allLeases(lists, list));

export type JobStatus = OpenStatus | ItemOutcome;

export interface ShownJob extends Job {
  readonly status: JobStatus;
  /** How often the job was handed out to workers, if it was, and it is not done. */
  readonly deliveries?: number;
  /** The task that was made from this job. */
  readonly task?: TaskId;
  /** When the task was redriven, if it has no longer the job's outcome. The first outcome of a job stands. */
  readonly redrivenAt?: Millis;
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

/** Which jobs a page shows, and where it begins. */
export interface JobsWanted {
  readonly from: number;
  readonly limit: number;
  /** Only jobs with this status. A page may then be empty although more follow. */
  readonly status?: JobStatus;
}

/** @param list the list as it was read before. Of a lease that was given since then, only the results are visible. */
export const jobsPage = async (deps: ListDeps & TaskDeps, list: List, wanted: JobsWanted): Promise<JobsPage> => {
  const { from, limit, status } = wanted;
  const whole = { ...list, leases: await allLeases(deps.lists, list) };
  const end = Math.min(from + limit, list.total);
  const page =
    status === undefined
      ? { ranges: from < end ? [{ first: from, count: end - from }] : [], ...(end < list.total ? { next: end } : {}) }
      : await jobsWith(deps, whole, status, from, limit);
  const jobs: ShownJob[] = [];
  let bytes = 0;
  for (const part of inParts(page.ranges.flatMap(tokensOf), READ_AT_ONCE)) {
    const shown = await shownJobs(deps, whole, part);
    for (const job of shown) {
      bytes += bytesOf(job);
      if (bytes > PAGE_BYTES && jobs.length > 0) return { jobs, next: job.token };
      jobs.push(job);
    }
    // The next job does not fit, or the jobs have been deleted.
    if (shown.length < part.length) return shown.length > 0 ? { jobs, next: part[shown.length] as number } : { jobs };
  }
  return { jobs, ...(page.next === undefined ? {} : { next: page.next }) };
};

const bytesOf = ({ payload, result = '', error }: ShownJob): number =>
  bytesInString(payload) + bytesInString(result) + (error ? bytesInString(JSON.stringify(error)) : 0);

/** Reads some jobs at once. */
const shownJobs = async (
  { lists, fanOuts, tasks, machine }: ListDeps & TaskDeps,
  list: List,
  tokens: readonly number[],
): Promise<readonly ShownJob[]> => {
  const id = listOf(list.id);
  const jobs = await lists.jobs(id, rangesOf(tokens));
  const ranges = rangesOf(jobs.map(({ token }) => token));
  const done = await doneIn(fanOuts, id, ranges);
  const ended = [...done.keys()];
  const results = ended.length > 0 ? (await Promise.all(ranges.map((range) => lists.results(id, range)))).flat() : [];
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
      const open = openStateOf(list, token, now);
      return { ...job, ...open, ...(open.status === 'started' && list.operation !== undefined ? { task } : {}) };
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

const openStateOf = (list: List, token: number, now: number): Pick<ShownJob, 'deliveries'> & { status: OpenStatus } => {
  if (token >= list.head) return { status: 'waiting' };
  const lease = list.leases.find((each) => hasJob(each, token));
  if (!lease) return { status: 'started' };
  const { deliveries } = lease;
  return { status: isFree(lease, now) ? 'waiting' : 'leased', ...(deliveries > 0 ? { deliveries } : {}) };
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

const taskResult = (
  { state, redrivenAt }: Task,
  outcome: ItemOutcome,
): Pick<ShownJob, 'redrivenAt' | 'result' | 'error'> => {
  if (state.status !== outcome) return redrivenAt === undefined ? {} : { redrivenAt };
  if (state.status === 'succeeded') return state.result === undefined ? {} : { result: state.result };
  if (state.status !== 'failed') return {};
  const { code, message } = state.error;
  return { error: { code, message } };
};
