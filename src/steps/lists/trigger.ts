/**
 * Trigger (D7): makes tasks of a list's next jobs, once for each token even if the request is repeated.
 *
 * A trigger sends a message, then takes the jobs in one transaction. The register function receives the message and
 * makes tasks of the jobs, some at a time. A repeat is harmless: the tasks have ids derived from their jobs, and a job
 * that is done starts no task. Jobs are registered like received messages, so an invalid job is refused with its
 * reasons.
 */

import pLimit from 'p-limit';
import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import type { Millis, Token } from '../../domain/ids.ts';
import { itemOf, type ListId, type Range, taskOf } from '../../domain/lists/ids.ts';
import {
  countOf,
  freeToTrigger,
  handsOut,
  type Job,
  type List,
  partOf,
  planTrigger,
  without,
} from '../../domain/lists/list.ts';
import {
  parseRegisterMessage,
  type Refused,
  type RegisterMessage,
  registeredAt,
  type Valid,
} from '../../domain/register/register-message.ts';
import { printTrigger, type TriggerMessage } from '../../domain/register/trigger-message.ts';
import type { Taken } from '../../ports/lists.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import { doneIn } from './jobs.ts';

/** A number of jobs, or a share of all jobs of the list. */
export type Wanted = { readonly count: number } | { readonly percent: number };

export type Triggered =
  | { readonly kind: 'triggered'; readonly count: number }
  /** The list hands out no more jobs. Nothing was triggered. */
  | { readonly kind: 'closed'; readonly status: Exclude<List['status'], 'open' | 'sealed'> }
  /** The list has no operation, so its jobs can only be claimed by workers. */
  | { readonly kind: 'no-operation' }
  | { readonly kind: 'unknown' };

/** Rounded up, so that four triggers of 25 percent take all jobs. */
const countWanted = (wanted: Wanted, { total }: List): number =>
  // 7 percent of 100 is slightly more than 7 in binary floating point.
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total * (1 - 2 * Number.EPSILON)) / 100);

/**
 * Takes jobs for a trigger. The message that makes tasks of them goes first, so that jobs that were taken are not
 * forgotten if this function dies.
 *
 * @throws ListBusy
 */
export const trigger = async (deps: ListDeps, id: ListId, wanted: Wanted, token: Token): Promise<Triggered> => {
  const { lists, queues } = deps;
  const known = await lists.trigger(id, token);
  const list = await lists.read(id);
  if (!list) return { kind: 'unknown' };
  if (list.status === 'expired') return { kind: 'closed', status: list.status };
  if (known) return { kind: 'triggered', count: countOf(known.ranges) };
  if (list.operation === undefined) return { kind: 'no-operation' };
  const count = countWanted(wanted, list);
  if (handsOut(list)) await queues.register([printTrigger({ list: id, token, count, from: 0 })]);
  const taken = await takeJobs(deps, id, token, count);
  return 'ranges' in taken ? { kind: 'triggered', count: countOf(taken.ranges) } : taken;
};

/**
 * D7. The ranges of a token: those it took before, or those it takes now. If no job is left it takes none, and this is
 * stored too.
 *
 * @throws ListBusy
 */
export const takeJobs = async (
  deps: ListDeps,
  id: ListId,
  token: Token,
  count: number,
): Promise<Taken | Extract<Triggered, { readonly kind: 'closed' | 'unknown' }>> => {
  const { lists, machine } = deps;
  return retryWhileContended(machine, id, async () => {
    const known = await lists.trigger(id, token);
    if (known) return known;
    const list = await lists.read(id);
    if (!list) return { kind: 'unknown' };
    const { status, head } = list;
    if (status !== 'open' && status !== 'sealed') {
      // Read the token again. An earlier try of this request may have been stored, and the list closed, between the two
      // reads.
      return (await lists.trigger(id, token)) ?? { kind: 'closed', status };
    }
    const plan = planTrigger(list, count, await openInFree(deps, id, list, machine.now()));
    return (await lists.take(id, token, { ...plan, head })) ? { ranges: plan.ranges, started: 0 } : undefined;
  });
};

/** Free ranges that are read at once. */
const LOOKED_AT_ONCE = 8;

/** The worker that had a range may have done some of its jobs. */
const openInFree = ({ fanOuts }: ListDeps, id: ListId, list: List, now: Millis) =>
  pLimit(LOOKED_AT_ONCE).map(freeToTrigger(list, now), async (lease) => ({
    lease,
    open: without(lease, await doneIn(fanOuts, id, lease)),
  }));

/** A job that becomes a task: its register message, and the fan-out item that the task completes. */
interface StartedJob {
  readonly body: string;
  readonly item: ItemId;
}

export interface Started {
  readonly jobs: readonly StartedJob[];
  /** Position of the trigger once these jobs are tasks, if it has advanced. */
  readonly reached?: TriggerMessage;
  /** Whether jobs are left. */
  readonly goesOn: boolean;
}

const NOTHING: Started = { jobs: [], goesOn: false };

/**
 * Jobs that become tasks at once, over all messages of an invocation. This is a second's work, so later messages hardly
 * wait and the function's time suffices.
 */
export const JOBS_AT_ONCE = 500;
/** Most ranges that one message reads. Each costs some reads, and may be of one job if a worker did every other job. */
const RANGES_AT_ONCE = 50;
/** Most payload bytes that a function holds for one invocation, approximately. */
const BYTES_AT_ONCE = 8_000_000;

/**
 * Reads the next jobs of a trigger.
 *
 * @param messages the number of triggers in this invocation. They share its capacity.
 */
export const startJobs = async (deps: ListDeps, message: TriggerMessage, messages = 1): Promise<Started> => {
  const { lists } = deps;
  const { list: id, from } = message;
  const list = await lists.read(id);
  if (!list || list.operation === undefined || list.status === 'expired') return NOTHING;
  const taken = await takenBy(deps, message);
  // A message from an earlier position is a second delivery. The first one has sent the message that goes on. If both
  // did, messages that come twice would multiply.
  if (!taken || from < taken.started) return NOTHING;
  const { ranges } = taken;
  const started: StartedJob[] = [];
  let [position, bytes] = [from, 0];
  // Read as many ranges as needed. The last one may be too large to be read at once.
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
 * The ranges of a trigger. The first message takes them if the token has none; a list that is closed takes none. A
 * later message takes nothing: a sender of tasks could forge such a message, and the jobs that it passes over would
 * never start.
 */
const takenBy = async (deps: ListDeps, { list, token, count, from }: TriggerMessage): Promise<Taken | undefined> => {
  if (from > 0) return deps.lists.trigger(list, token);
  const taken = await takeJobs(deps, list, token, count);
  return 'ranges' in taken ? taken : undefined;
};

const notDone = async ({ fanOuts }: ListDeps, id: ListId, range: Range, jobs: readonly Job[]) => {
  const done = await doneIn(fanOuts, id, range);
  return jobs.filter(({ token }) => !done.has(token));
};

const startedOf = ({ fanOuts }: ListDeps, id: ListId, operation: string, { token, payload }: Job): StartedJob => ({
  body: registerBody(operation, taskOf(id, token), payload),
  item: itemIdOf(itemOf(id, token, fanOuts.width)),
});

/** The payload is inserted unchanged. */
export const registerBody = (operation: string, task: string, payload: string): string =>
  `{"operation":${JSON.stringify(operation)},"id":${JSON.stringify(task)},"payload":${payload}}`;

/** A message that continues a trigger. */
export interface AskedTrigger {
  readonly message: RegisterMessage;
  readonly asked: TriggerMessage;
}

export interface TriggeredJobs {
  readonly valid: readonly Valid[];
  readonly refused: readonly Refused[];
  /** Position of each trigger once these tasks are registered, and whether jobs are left. */
  readonly reached: readonly { readonly at: TriggerMessage; readonly goesOn: boolean }[];
}

/** Triggers handled at once. If the list of one is busy, the others do not wait for it. */
const TRIGGERS_AT_ONCE = 5;

/** The next jobs of each trigger. */
export const triggeredJobs = async (deps: ListDeps, messages: readonly AskedTrigger[]): Promise<TriggeredJobs> => {
  const { config, machine } = deps;
  const valid: Valid[] = [];
  const refused: Refused[] = [];
  const reached: { at: TriggerMessage; goesOn: boolean }[] = [];
  const all = await pLimit(TRIGGERS_AT_ONCE).map(messages, async ({ message, asked }) => ({
    message,
    started: await startJobs(deps, asked, messages.length),
  }));
  for (const { message, started } of all) {
    for (const { body, item } of started.jobs) {
      const job = { ...message, body };
      const parsed = parseRegisterMessage(config, job);
      // Report the job as failed to its list. Otherwise no function would, and the list would never complete.
      if (!parsed.ok) refused.push({ message: job, problems: parsed.problems, job: item });
      else
        valid.push({
          message: job,
          task: { ...registeredAt(parsed.value, message, machine.now()), fanOutItem: item },
          job: item,
        });
    }
    if (started.reached) reached.push({ at: started.reached, goesOn: started.goesOn });
  }
  return { valid, refused, reached };
};

/**
 * Continues triggers after their jobs are registered. The next message is sent before the new position is stored, so
 * that a crash in between loses no job.
 */
export const goOn = async ({ lists, queues }: ListDeps, { reached }: Pick<TriggeredJobs, 'reached'>): Promise<void> => {
  const next = reached.filter(({ goesOn }) => goesOn).map(({ at }) => printTrigger(at));
  if (next.length > 0) await queues.register(next);
  for (const { at } of reached) await lists.goOn(at.list, at.token, at.from);
};
