/**
 * Triggered jobs (D7): what a trigger took of a deferred list is registered as if it had been sent, and so refused with
 * its reasons where it does not fit.
 */
import pLimit from 'p-limit';
import {
  parseRegisterMessage,
  type Refused,
  type RegisterMessage,
  registeredAt,
  type Valid,
} from '../../domain/register/register-message.ts';
import { printTrigger, type TriggerMessage } from '../../domain/register/trigger-message.ts';
import type { Deps } from '../deps.ts';
import { startJobs } from '../lists/start-jobs.ts';

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
const AT_ONCE = 5;

/** Some jobs of each trigger. */
export const triggeredJobs = async (
  deps: Pick<Deps, 'config' | 'lists' | 'fanOuts' | 'machine'>,
  messages: readonly AskedTrigger[],
): Promise<TriggeredJobs> => {
  const { config, machine } = deps;
  const valid: Valid[] = [];
  const refused: Refused[] = [];
  const reached: { at: TriggerMessage; goesOn: boolean }[] = [];
  const all = await pLimit(AT_ONCE).map(messages, async ({ message, asked }) => ({
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
export const goOn = async (
  { lists, queues }: Pick<Deps, 'lists' | 'queues'>,
  { reached }: Pick<TriggeredJobs, 'reached'>,
): Promise<void> => {
  const next = reached.filter(({ goesOn }) => goesOn).map(({ at }) => printTrigger(at));
  if (next.length > 0) await queues.register(next);
  for (const { at } of reached) await lists.goOn(at.list, at.token, at.from);
};
