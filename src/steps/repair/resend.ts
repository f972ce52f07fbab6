/**
 * Whether and how a rejected message or a given-up event would be sent again. A list shows the decision, and a redrive
 * carries it out. Pure.
 */

import { parseCallback, unknownDestination } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { UNKNOWN_SENDER } from '../../domain/producers/sender.ts';
import { withId } from '../../domain/register/register-body.ts';
import { parseRegisterBody } from '../../domain/register/register-message.ts';
import { type KeptMessage, parseRejection } from '../../domain/register/rejection.ts';
import type { DeadLetter, FinalQueue } from '../../ports/queues.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { describeInBrief, describeProblem } from '../../util/problems.ts';

/** How a message would be sent again, or why it would stay in its queue. */
export type Resend =
  | {
      readonly is: 'sent';
      readonly to: 'register' | 'callback';
      readonly deadLetter: DeadLetter;
      readonly body: string;
    }
  | { readonly is: 'kept'; readonly reason: string };

const kept = (reason: string): Resend => ({ is: 'kept', reason });

/** Only messages that would be accepted now are sent, because the configuration or the destination has been fixed. */
export const resendOf = (config: Config, queue: FinalQueue, deadLetter: DeadLetter): Resend => {
  if (queue === 'given-up') return resendEvent(config, queue, deadLetter, deadLetter.body);
  const refused = parseRejection(deadLetter.body);
  if (!refused)
    return kept('not a message that Groupage rejected: only functions of Groupage may write to the rejected queue');
  if (refused.isCut) return kept('its body was too large to be stored whole: send the task again from its source');
  if (refused.isEvent) return resendEvent(config, queue, deadLetter, refused.body);
  return isReport(refused.body) ? kept(REPORT) : resendTask(config, deadLetter, refused);
};

/** The reason for a job's report. The problems of a register message would not apply to it. */
const REPORT =
  "it is a job's report, not a task: correct it, and send it to the batch queue or POST it to /batches/ID/complete";

const isReport = (body: string): boolean => {
  const json = parseJson(body);
  return json.ok && isObject(json.value) && 'batchId' in json.value && !('operation' in json.value);
};

const resendTask = (config: Config, deadLetter: DeadLetter, refused: KeptMessage): Resend => {
  const { messageId, sentAt, sender = UNKNOWN_SENDER } = refused;
  // Use the task id that the rejected message would have got, so that a repeat is harmless.
  const body = withId(refused.body, messageId);
  // Check the message as the register function does, but without the tables.
  const { firstSentAt } = deadLetter;
  const message = { messageId, body, sentAt: Math.min(sentAt ?? firstSentAt, firstSentAt) };
  const parsed = parseRegisterBody(config, message);
  if (!parsed.ok) return kept(`it would be rejected again: ${describeInBrief(parsed.problems)}`);
  return { is: 'sent', to: 'register', deadLetter: { ...deadLetter, firstSentAt: message.sentAt, sender }, body };
};

/** The callback function rejects an event only if its destination is not configured. */
const resendEvent = (config: Config, queue: FinalQueue, deadLetter: DeadLetter, body: string): Resend => {
  const problem = refusalOf(config, body);
  if (problem !== undefined) return kept(`it would be rejected${queue === 'rejected' ? ' again' : ''}: ${problem}`);
  return { is: 'sent', to: 'callback', deadLetter, body };
};

const refusalOf = (config: Config, body: string): string | undefined => {
  try {
    const { to } = parseCallback(body);
    return Object.hasOwn(config.destinations, to) ? undefined : describeProblem(unknownDestination(config, to));
  } catch (cause) {
    if (cause instanceof UnreadableMessage || cause instanceof NewerMessage) return cause.message;
    throw cause;
  }
};
