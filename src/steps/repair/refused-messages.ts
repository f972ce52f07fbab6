/**
 * Sends refused messages and given-up events again when an operator requests it. It sends only messages that would be
 * accepted now, because the configuration or the destination has been fixed.
 */

import { parseCallback, unknownDestination } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { UNKNOWN_SENDER } from '../../domain/producers/sender.ts';
import { withId } from '../../domain/register/register-body.ts';
import { parseRegisterBody } from '../../domain/register/register-message.ts';
import { type KeptMessage, parseRejection } from '../../domain/register/rejection.ts';
import type { DeadLetter, DeadLetterQueue } from '../../ports/queues.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { describeInBrief, describeProblem } from '../../util/problems.ts';
import type { DeadLetterDeps } from '../deps.ts';
import { redrive, type Walk, type Walked, walkDeadLetters } from './dead-letters.ts';

/**
 * Sends refused messages again. Some of them may be refused again, for a reason that only the tables show. Then the
 * rejected queue gets a new message, and if clocks differ its time may be before the start of this walk. Each such
 * message contains the id of the message that this walk sent. So the walk does not send it a second time, and does not
 * count it as redriven.
 */
export const redriveRefused = async (deps: DeadLetterDeps, walk: Walk): Promise<Walked> => {
  const sent = new Set<string>();
  const cameBack = new Set<string>();
  const walked = await walkDeadLetters(deps, 'rejected', walk, async (deadLetter) => {
    const refused = parseRejection(deadLetter.body);
    if (!refused)
      return 'not a message that Groupage refused: only functions of Groupage may write to the rejected queue';
    if (refused.isCut) return 'its body was too large to be stored whole: send the task again from its source';
    if (sent.has(refused.messageId)) {
      cameBack.add(refused.messageId);
      return `it was sent and refused again: ${describeInBrief(refused.problems)}`;
    }
    return redriveOne(deps, deadLetter, refused, sent);
  });
  return { ...walked, revived: walked.revived - cameBack.size };
};

/** The reason for a job's report. The problems of a register message would not apply to it. */
const REPORT =
  "it is a job's report, not a task: correct it, and send it to the batch queue or POST it to /batches/ID/complete";

const isReport = (body: string): boolean => {
  const json = parseJson(body);
  return json.ok && isObject(json.value) && 'batchId' in json.value && !('operation' in json.value);
};

const redriveOne = async (
  deps: DeadLetterDeps,
  deadLetter: DeadLetter,
  { messageId, body: refused, isEvent, sentAt, sender = UNKNOWN_SENDER }: KeptMessage,
  sent: Set<string>,
): Promise<string | undefined> => {
  if (isEvent) return redriveEvent(deps, 'rejected', deadLetter, refused);
  if (isReport(refused)) return REPORT;
  // Use the task id that the refused message would have got, so that a repeat is harmless.
  const body = withId(refused, messageId);
  // Check the message as the register function does, but without the tables.
  const { firstSentAt } = deadLetter;
  const message = { messageId, body, sentAt: Math.min(sentAt ?? firstSentAt, firstSentAt) };
  const parsed = parseRegisterBody(deps.config, message);
  if (!parsed.ok) return `it would be refused again: ${describeInBrief(parsed.problems)}`;
  const sentAgain = { ...deadLetter, firstSentAt: message.sentAt, sender };
  sent.add(await redrive(deps, { from: 'rejected', to: 'register', deadLetter: sentAgain, body, delay: 0 }));
  return undefined;
};

/** Sends given-up events to the callback queue again. */
export const redriveGivenUp = (deps: DeadLetterDeps, walk: Walk): Promise<Walked> =>
  walkDeadLetters(deps, 'given-up', walk, (deadLetter) => redriveEvent(deps, 'given-up', deadLetter, deadLetter.body));

/**
 * @returns why the event was not sent. The callback function refuses an event only if its destination is not
 * configured.
 */
const redriveEvent = async (
  deps: DeadLetterDeps,
  from: DeadLetterQueue,
  deadLetter: DeadLetter,
  body: string,
): Promise<string | undefined> => {
  const problem = refusalOf(deps.config, body);
  if (problem !== undefined) return `it would be refused${from === 'rejected' ? ' again' : ''}: ${problem}`;
  await redrive(deps, { from, to: 'callback', deadLetter, body, delay: 0 });
  return undefined;
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
