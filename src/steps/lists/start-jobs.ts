/**
 * Start (D7): what a trigger took becomes tasks, some at a time, by the λ that registers tasks. Again is harmless: the
 * tasks have their jobs' names, and a job that is done starts no task any more.
 */
import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import { itemOf, type ListId, taskOf } from '../../domain/lists/ids.ts';
import { countOf, type Job, partOf, type Range } from '../../domain/lists/list.ts';
import type { TriggerMessage } from '../../domain/register/trigger-message.ts';
import type { Taken } from '../../ports/lists.ts';
import type { ListDeps } from './deps.ts';
import { doneIn } from './done.ts';
import { takeJobs } from './trigger.ts';

/** A job that is to be a task: the register message that it comes to, and the item that the task is. */
interface StartedJob {
  readonly body: string;
  readonly item: ItemId;
}

export interface Started {
  readonly jobs: readonly StartedJob[];
  /** How far the trigger is once these are tasks, if it is farther than before. */
  readonly reached?: TriggerMessage;
  /** Whether there are more. */
  readonly goesOn: boolean;
}

const NOTHING: Started = { jobs: [], goesOn: false };

/**
 * Jobs that are made tasks of at once, by all messages together: a second's work, so that whoever comes behind them
 * hardly waits, and a function has time for it.
 */
export const JOBS_AT_ONCE = 500;
/**
 * Ranges that one message looks at: some reads each, and each may be of one job, where whoever had them did every other
 * one.
 */
const RANGES_AT_ONCE = 50;
/** More than this a function need not hold of them; about. */
const BYTES_AT_ONCE = 8_000_000;

type StartDeps = Pick<ListDeps, 'lists' | 'fanOuts' | 'machine'>;

/** @param messages of how many triggers it is one that go on together: they share what a function can do */
export const startJobs = async (deps: StartDeps, message: TriggerMessage, messages = 1): Promise<Started> => {
  const { lists } = deps;
  const { list: id, from } = message;
  const list = await lists.read(id);
  if (!list || list.operation === undefined || list.status === 'expired') return NOTHING;
  const taken = await takenBy(deps, message);
  // It comes a second time, and whoever had it before has sent what goes on: if each did, those that come twice
  // would multiply from message to message.
  if (!taken || from < taken.started) return NOTHING;
  const { ranges } = taken;
  const started: StartedJob[] = [];
  let [position, bytes] = [from, 0];
  // As many ranges as it takes, of which the last may be too large to be read at once.
  for (const range of partOf(ranges, from, Math.ceil(JOBS_AT_ONCE / messages)).slice(0, RANGES_AT_ONCE)) {
    const jobs = await lists.jobs(id, range);
    const open = await notDone(deps, id, range, jobs);
    for (const job of open) started.push(startedOf(deps, id, list.operation, job));
    position += jobs.length;
    bytes += jobs.reduce((sum, { payload }) => sum + payload.length, 0);
    if (jobs.length < range.count || bytes > BYTES_AT_ONCE / messages) break;
  }
  return position > from
    ? { jobs: started, reached: { ...message, from: position }, goesOn: position < countOf(ranges) }
    : NOTHING;
};

/**
 * What the trigger took, or takes now. Of a list that takes none any more nothing was taken, and whoever asked has been
 * told so. Amid a trigger nothing is taken: whoever may send tasks may send such a message, too, and the jobs that it
 * passes over would never start.
 */
const takenBy = async (deps: StartDeps, { list, token, count, from }: TriggerMessage): Promise<Taken | undefined> => {
  if (from > 0) return deps.lists.trigger(list, token);
  const taken = await takeJobs(deps, list, token, count);
  return 'ranges' in taken ? taken : undefined;
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
