/**
 * For a person, messages are sent again that were refused, and events that were given up. Only where they would not be refused
 * any more: what was wrong was the configuration or the destination, and somebody has put it right.
 */

import { parseCallback, unknownDestination } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { withId } from '../../domain/register/register-body.ts';
import { parseRegisterBody } from '../../domain/register/register-message.ts';
import { type KeptMessage, parseRejection } from '../../domain/register/rejection.ts';
import type { DeadLetter, DeadLetterQueue } from '../../ports/queues.ts';
import { isObject, parseJson } from '../../util/json-text.ts';
import { describeInBrief, describeProblem } from '../../util/problems.ts';
import type { DeadLetterDeps } from '../deps.ts';
import { redrive, type Walk, type Walked, walkDeadLetters } from './dead-letters.ts';

/**
 * Some are refused by what only the tables know. They come back as new letters, by any clock perhaps older than this
 * walk; but each has in it the id of the message that was sent, so none is sent twice. They were not revived.
 */
export const redriveRefused = async (deps: DeadLetterDeps, walk: Walk): Promise<Walked> => {
  const sent = new Set<string>();
  const cameBack = new Set<string>();
  const walked = await walkDeadLetters(deps, 'rejected', walk, async (deadLetter) => {
    const refused = parseRejection(deadLetter.body);
    if (!refused) return 'not a message that Groupage refused: only its own λs may write to the rejected queue';
    if (refused.isCut) return 'its body was too large to be kept whole: send the task anew';
    if (sent.has(refused.messageId)) {
      cameBack.add(refused.messageId);
      return `it was sent, and refused again: ${describeInBrief(refused.problems)}`;
    }
    return redriveOne(deps, deadLetter, refused, sent);
  });
  return { ...walked, revived: walked.revived - cameBack.size };
};

/** Its reasons would be those of a register message, which it is not. */
const REPORT =
  "it is a job's report, and no task: mend it, and send it to the batch queue or POST it to /batches/ID/complete";

const isReport = (body: string): boolean => {
  const json = parseJson(body);
  return json.ok && isObject(json.value) && 'batchId' in json.value && !('operation' in json.value);
};

const redriveOne = async (
  deps: DeadLetterDeps,
  deadLetter: DeadLetter,
  { messageId, body: refused, isEvent, sentAt }: KeptMessage,
  sent: Set<string>,
): Promise<string | undefined> => {
  if (isEvent) return redriveEvent(deps, 'rejected', deadLetter, refused);
  if (isReport(refused)) return REPORT;
  // Under the id that it would have had: to register it again is harmless.
  const body = withId(refused, messageId);
  // As the register λ will, but for the tables.
  const { firstSentAt } = deadLetter;
  const message = { messageId, body, sentAt: Math.min(sentAt ?? firstSentAt, firstSentAt) };
  const parsed = parseRegisterBody(deps.config, message);
  if (!parsed.ok) return `it would be refused again: ${describeInBrief(parsed.problems)}`;
  const sentAgain = { ...deadLetter, firstSentAt: message.sentAt };
  sent.add(await redrive(deps, { from: 'rejected', to: 'register', deadLetter: sentAgain, body, delay: 0 }));
  return undefined;
};

/** Sends events that were given up to the callback queue, for a person. */
export const redriveGivenUp = (deps: DeadLetterDeps, walk: Walk): Promise<Walked> =>
  walkDeadLetters(deps, 'given-up', walk, (deadLetter) => redriveEvent(deps, 'given-up', deadLetter, deadLetter.body));

/** @returns why the event was not sent. The callback function refuses one for one reason alone: its destination is not configured. */
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
