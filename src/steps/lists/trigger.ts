/**
 * Trigger (D7): jobs of a list become tasks of its operation, once for each token however often it is asked for.
 *
 * What a trigger took becomes tasks some at a time, by the λ that registers tasks. Again is harmless: the tasks have their jobs'
 * names, and a job that is done starts no task any more. Jobs are registered as if they had been sent, and so refused with their
 * reasons where they do not fit.
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

/** How many jobs, or what share of all that the list has. */
export type Wanted = { readonly count: number } | { readonly percent: number };

export type Triggered =
  | { readonly kind: 'triggered'; readonly count: number }
  /** It hands out nothing any more: nothing was triggered. */
  | { readonly kind: 'closed'; readonly status: Exclude<List['status'], 'open' | 'sealed'> }
  /** Its jobs are for workers that claim them. */
  | { readonly kind: 'no-operation' }
  | { readonly kind: 'unknown' };

/** Rounded up: four times 25 percent are all. */
const countWanted = (wanted: Wanted, { total }: List): number =>
  // 0.07 of 100 comes to a little more than 7 in binary.
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total * (1 - 2 * Number.EPSILON)) / 100);

/**
 * Takes the jobs. The message that makes tasks of them goes first: what is taken is not forgotten if whoever asked
 * stops here.
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
 * D7. What a token stands for: what it took before, or takes now. Of nothing that is left it takes nothing, which is
 * noted, too.
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
      // It may have been closed after our own earlier try: between the two reads.
      return (await lists.trigger(id, token)) ?? { kind: 'closed', status };
    }
    const plan = planTrigger(list, count, await openInFree(deps, id, list, machine.now()));
    return (await lists.take(id, token, { ...plan, head })) ? { ranges: plan.ranges, started: 0 } : undefined;
  });
};

/** Free ranges that are looked at at once. */
const LOOKED_AT_ONCE = 8;

/** Whoever had them may have done some. */
const openInFree = ({ fanOuts }: ListDeps, id: ListId, list: List, now: Millis) =>
  pLimit(LOOKED_AT_ONCE).map(freeToTrigger(list, now), async (lease) => ({
    lease,
    open: without(lease, await doneIn(fanOuts, id, lease)),
  }));

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

/** @param messages of how many triggers it is one that go on together: they share what a function can do */
export const startJobs = async (deps: ListDeps, message: TriggerMessage, messages = 1): Promise<Started> => {
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

/** The payload goes in as it was sent. */
export const registerBody = (operation: string, task: string, payload: string): string =>
  `{"operation":${JSON.stringify(operation)},"id":${JSON.stringify(task)},"payload":${payload}}`;

/** A message that goes on with a trigger. */
export interface AskedTrigger {
  readonly message: RegisterMessage;
  readonly asked: TriggerMessage;
}

export interface TriggeredJobs {
  readonly valid: readonly Valid[];
  readonly refused: readonly Refused[];
  /** How far each trigger is once these are registered, and whether there are more. */
  readonly reached: readonly { readonly at: TriggerMessage; readonly goesOn: boolean }[];
}

/** Triggers that are gone on with at once: one whose list is busy waits, and the others do not wait for it. */
const TRIGGERS_AT_ONCE = 5;

/** Some jobs of each trigger. */
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
      // The list is told that it failed: nobody would be, otherwise, and it would never complete.
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

/** Goes on with triggers of which some jobs are registered. What goes on is sent before it is noted that it was. */
export const goOn = async ({ lists, queues }: ListDeps, { reached }: Pick<TriggeredJobs, 'reached'>): Promise<void> => {
  const next = reached.filter(({ goesOn }) => goesOn).map(({ at }) => printTrigger(at));
  if (next.length > 0) await queues.register(next);
  for (const { at } of reached) await lists.goOn(at.list, at.token, at.from);
};
