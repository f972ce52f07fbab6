/**
 * Trigger (D7): turns the next jobs of a list into tasks. A repeated request with the same token triggers no further
 * jobs.
 *
 * A trigger sends a message, then takes the jobs in one transaction. The register function receives the message and
 * turns the jobs into tasks, some at a time. A repeat is harmless, because the id of a task is derived from its job,
 * and a job that is done starts no task. Jobs are registered like received messages, so an invalid job is refused with
 * its reasons.
 */

import pLimit from 'p-limit';
import { operationNamed } from '../../domain/config/resolved.ts';
import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import type { Token } from '../../domain/ids.ts';
import { itemOf, type ListId, type Range, taskOf } from '../../domain/lists/ids.ts';
import { goneIn, handsOut, type Job, type List } from '../../domain/lists/list.ts';
import { countOf, partOf } from '../../domain/lists/ranges.ts';
import { freeToTrigger, planTrigger } from '../../domain/lists/taking.ts';
import { sendProblem } from '../../domain/producers/rules.ts';
import { printSender, type Sender } from '../../domain/producers/sender.ts';
import {
  parseRegisterMessage,
  type Refused,
  type RegisterMessage,
  registeredAt,
  type Valid,
} from '../../domain/register/register-message.ts';
import { printTrigger, type TriggerMessage } from '../../domain/register/trigger-message.ts';
import type { Taken } from '../../ports/lists.ts';
import type { Problem } from '../../util/problems.ts';
import { retryWhileContended } from '../contention.ts';
import type { ListDeps } from '../deps.ts';
import type { Judge } from '../producers/judge.ts';
import { doneIn, openIn } from './done.ts';
import { gatherEnded } from './gather.ts';

/** A number of jobs, or a share of all jobs of the list. */
export type Wanted = { readonly count: number } | { readonly percent: number };

export type Triggered =
  | { readonly kind: 'triggered'; readonly count: number }
  /** The list hands out no more jobs. Nothing was triggered. */
  | { readonly kind: 'closed'; readonly status: Exclude<List['status'], 'open' | 'sealed'> }
  /** The token was used for another amount. Nothing more was triggered. */
  | { readonly kind: 'other-amount'; readonly wanted: string }
  /** The list has no operation, so its jobs can only be claimed by workers. */
  | { readonly kind: 'no-operation' }
  | { readonly kind: 'unknown' };

/** The amount as it is stored with the trigger, and as people read it. */
const printWanted = (wanted: Wanted): string =>
  'count' in wanted ? `${wanted.count} jobs` : `${wanted.percent} percent`;

type WithAmount = Taken & { readonly wanted: string };

/**
 * Whether a token was used for another amount. The amount is unknown if an older release stored the trigger, or if the
 * register function took its jobs after the API function had died, because the message has only their number.
 */
const isOther = (taken: Taken, wanted: string): taken is WithAmount =>
  taken.wanted !== undefined && taken.wanted !== wanted;

/** Rounded up, so that four triggers of 25 percent take all jobs. */
const countWanted = (wanted: Wanted, { total }: List): number =>
  // Reduce the product slightly before rounding up: in binary floating point, 7 percent of 100 is slightly more than 7.
  'count' in wanted ? wanted.count : Math.ceil((wanted.percent * total * (1 - 2 * Number.EPSILON)) / 100);

/**
 * Takes jobs for a trigger. The message that turns the jobs into tasks is sent before they are taken, so that no taken
 * job is forgotten if this function dies.
 *
 * @throws ListBusy
 */
export const trigger = async (
  deps: ListDeps,
  id: ListId,
  wanted: Wanted,
  token: Token,
  sender?: Sender,
): Promise<Triggered> => {
  const { lists, queues } = deps;
  const printed = printWanted(wanted);
  const known = await lists.trigger(id, token);
  const list = await lists.read(id);
  if (!list) return { kind: 'unknown' };
  if (list.status === 'expired') return { kind: 'closed', status: list.status };
  if (known && isOther(known, printed)) return { kind: 'other-amount', wanted: known.wanted };
  if (known) return { kind: 'triggered', count: countOf(known.ranges) };
  if (list.operation === undefined) return { kind: 'no-operation' };
  const count = countWanted(wanted, list);
  const asked = { list: id, token, count };
  if (handsOut(list)) await queues.register([printTrigger({ ...asked, from: 0 })], sender);
  const taken = await takeJobs(deps, asked, printed);
  if (!('ranges' in taken)) return taken;
  // If the register function was faster, it did not know the amount.
  const amount = taken.wanted ?? (await lists.noteAmount(id, token, printed));
  return amount === printed
    ? { kind: 'triggered', count: countOf(taken.ranges) }
    : { kind: 'other-amount', wanted: amount };
};

/**
 * D7. The ranges that were taken for a token before. If there are none, this takes ranges now. If no job is left, it
 * stores that the token took no job.
 *
 * @param wanted the amount as it was requested, if it is known
 * @throws ListBusy
 */
export const takeJobs = async (
  deps: ListDeps,
  { list: id, token, count }: Omit<TriggerMessage, 'from'>,
  wanted?: string,
): Promise<Taken | Extract<Triggered, { readonly kind: 'closed' | 'unknown' }>> => {
  const { lists, fanOuts, machine } = deps;
  return retryWhileContended(machine, id, async () => {
    const known = await lists.trigger(id, token);
    if (known) return known;
    const stored = await lists.read(id);
    const list = stored && handsOut(stored) ? await gatherEnded(deps, id, stored) : stored;
    if (!list) return { kind: 'unknown' };
    const { status, head } = list;
    if (status !== 'open' && status !== 'sealed') {
      // Read the token again: between the two reads, an earlier try of this request may have been stored and the list
      // may have been closed.
      return (await lists.trigger(id, token)) ?? { kind: 'closed', status };
    }
    const free = await openIn(fanOuts, id, freeToTrigger(list, machine.now()));
    const plan = planTrigger(list, count, free);
    const amount = wanted === undefined ? {} : { wanted };
    const gone = goneIn(list, plan.from, plan.rest ? [plan.rest] : []);
    return (await lists.take(id, token, { ...plan, head, gone, ...amount }))
      ? { ranges: plan.ranges, started: 0, ...amount }
      : undefined;
  });
};

/** A job that becomes a task: its register message, and the fan-out item that is acked when the task ends. */
interface StartedJob {
  readonly body: string;
  readonly item: ItemId;
}

export interface Started {
  readonly jobs: readonly StartedJob[];
  /** Position of the trigger after these jobs became tasks. Undefined if the position does not change. */
  readonly reached?: TriggerMessage;
  /** Whether the trigger has jobs left after these. */
  readonly goesOn: boolean;
  /** Why the sender may not start the jobs. */
  readonly problem?: Problem;
}

const NOTHING: Started = { jobs: [], goesOn: false };

/**
 * Number of jobs that become tasks in one invocation, over all its trigger messages. Registering them takes about a
 * second, so later messages hardly wait and the function's time suffices.
 */
export const JOBS_AT_ONCE = 500;
/**
 * The largest number of ranges that are read for one message. Each range costs some reads, and may contain only one
 * job, for example if a worker did every second job.
 */
const RANGES_AT_ONCE = 50;
/** Approximately the largest number of payload bytes that one invocation reads. */
const BYTES_AT_ONCE = 8_000_000;

/**
 * Reads the next jobs of a trigger.
 *
 * @param messages the number of triggers in this invocation. They share its capacity.
 * @param problemWith why the sender may not send tasks of an operation
 */
export const startJobs = async (
  deps: ListDeps,
  message: TriggerMessage,
  messages = 1,
  problemWith: (operation: string) => Problem | undefined = () => undefined,
): Promise<Started> => {
  const { lists } = deps;
  const { list: id, from } = message;
  const list = await lists.read(id);
  if (!list || list.operation === undefined || list.status === 'expired') return NOTHING;
  const problem = problemWith(list.operation);
  if (problem) return { ...NOTHING, problem };
  const taken = await takenBy(deps, message);
  // A message with an earlier position is a second delivery, and the first delivery has sent the next message. If both
  // deliveries sent one, the messages would multiply.
  if (!taken || from < taken.started) return NOTHING;
  const { ranges } = taken;
  const started: StartedJob[] = [];
  let [position, bytes] = [from, 0];
  // Read as many ranges as are needed. The last range may be too large to be read at once.
  for (const range of partOf(ranges, from, Math.ceil(JOBS_AT_ONCE / messages)).slice(0, RANGES_AT_ONCE)) {
    const jobs = await lists.jobs(id, [range]);
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
 * The ranges of a trigger. If its token has no ranges, the first message takes them, unless the list is closed. A later
 * message takes none: a sender of tasks could forge such a message, and the jobs before its position would never start.
 */
const takenBy = async (deps: ListDeps, message: TriggerMessage): Promise<Taken | undefined> => {
  if (message.from > 0) return deps.lists.trigger(message.list, message.token);
  const taken = await takeJobs(deps, message);
  return 'ranges' in taken ? taken : undefined;
};

const notDone = async ({ fanOuts }: ListDeps, id: ListId, range: Range, jobs: readonly Job[]) => {
  const done = await doneIn(fanOuts, id, [range]);
  return jobs.filter(({ token }) => !done.has(token));
};

const startedOf = ({ fanOuts }: ListDeps, id: ListId, operation: string, { token, payload }: Job): StartedJob => ({
  body: registerBody(operation, taskOf(id, token), payload),
  item: itemIdOf(itemOf(id, token, fanOuts.width)),
});

/** The body of the register message for a job. The payload is inserted unchanged. */
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
  /** Position of each trigger after these tasks are registered, and whether the trigger has jobs left. */
  readonly reached: readonly Reached[];
}

interface Reached {
  readonly at: TriggerMessage;
  readonly goesOn: boolean;
  /** Who sent the trigger. The message that continues it has the same sender. */
  readonly sender: Sender | undefined;
}

/** Number of triggers that are handled at once. If the list of one trigger is busy, the others do not wait for it. */
const TRIGGERS_AT_ONCE = 5;

/** Reads and parses the next jobs of each trigger. */
export const triggeredJobs = async (
  deps: ListDeps,
  judge: Judge,
  messages: readonly AskedTrigger[],
): Promise<TriggeredJobs> => {
  const { config, machine } = deps;
  const valid: Valid[] = [];
  const refused: Refused[] = [];
  const reached: Reached[] = [];
  const problemWith = (message: RegisterMessage) => (name: string) => {
    const operation = operationNamed(config, name);
    return operation && judge.problem('send', sendProblem, operation, message);
  };
  const all = await pLimit(TRIGGERS_AT_ONCE).map(messages, async ({ message, asked }) => ({
    message,
    started: await startJobs(deps, asked, messages.length, problemWith(message)),
  }));
  for (const { message, started } of all) {
    if (started.problem) refused.push({ message, problems: [{ ...started.problem, path: 'list' }] });
    for (const { body, item } of started.jobs) {
      const job = { ...message, body };
      const parsed = parseRegisterMessage(config, job);
      // A refused job must be reported to its list as failed. Otherwise the list would never complete.
      if (!parsed.ok) refused.push({ message: job, problems: parsed.problems, job: item });
      else
        valid.push({
          message: job,
          task: { ...registeredAt(parsed.value, message, machine.now()), fanOutItem: item },
          job: item,
        });
    }
    if (started.reached) reached.push({ at: started.reached, goesOn: started.goesOn, sender: message.sender });
  }
  return { valid, refused, reached };
};

/**
 * Continues triggers after their jobs are registered. The next message is sent before the new position is stored, so
 * that a crash in between loses no job.
 */
export const goOn = async ({ lists, queues }: ListDeps, { reached }: Pick<TriggeredJobs, 'reached'>): Promise<void> => {
  const next = reached.filter(({ goesOn }) => goesOn);
  for (const same of Map.groupBy(next, ({ sender }) => sender && printSender(sender)).values())
    await queues.register(
      same.map(({ at }) => printTrigger(at)),
      same[0]?.sender,
    );
  for (const { at } of reached) await lists.goOn(at.list, at.token, at.from);
};
