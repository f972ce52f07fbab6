/** Sends rejected messages and given-up events again, or deletes them, when an operator requests it. */

import { parseRejection } from '../../domain/register/rejection.ts';
import type { DeadLetter, FinalQueue } from '../../ports/queues.ts';
import { describeInBrief } from '../../util/problems.ts';
import type { DeadLetterDeps } from '../deps.ts';
import { redrive, type Walk, type Walked, walkDeadLetters } from './dead-letters.ts';
import { resendOf } from './resend.ts';

/**
 * Sends rejected messages again. Some of them may be rejected again, for a reason that only the tables show. Then the
 * rejected queue gets a new message, and if clocks differ its time may be before the start of this walk. Each such
 * message contains the id of the message that this walk sent. So the walk does not send it a second time, and does not
 * count it as redriven.
 */
export const redriveRefused = async (deps: DeadLetterDeps, walk: Walk): Promise<Walked> => {
  const sent = new Set<string>();
  const cameBack = new Set<string>();
  const walked = await walkDeadLetters(deps, 'rejected', walk, async (deadLetter) => {
    const refused = parseRejection(deadLetter.body);
    if (refused && sent.has(refused.messageId)) {
      cameBack.add(refused.messageId);
      return `it was sent and rejected again: ${describeInBrief(refused.problems)}`;
    }
    return resend(deps, 'rejected', deadLetter, (id) => sent.add(id));
  });
  return { ...walked, revived: walked.revived - cameBack.size };
};

/** Sends given-up events to the callback queue again. */
export const redriveGivenUp = (deps: DeadLetterDeps, walk: Walk): Promise<Walked> =>
  walkDeadLetters(deps, 'given-up', walk, (deadLetter) => resend(deps, 'given-up', deadLetter));

/**
 * Sends one message again, unless it would be rejected.
 *
 * @param onSent called with the SQS id of a register message that was sent.
 * @returns why it was not sent
 */
export const resend = async (
  deps: DeadLetterDeps,
  from: FinalQueue,
  deadLetter: DeadLetter,
  onSent: (id: string) => void = () => {},
): Promise<string | undefined> => {
  const how = resendOf(deps.config, from, deadLetter);
  if (how.is === 'kept') return how.reason;
  const id = await redrive(deps, { from, to: how.to, deadLetter: how.deadLetter, body: how.body, delay: 0 });
  if (how.to === 'register') onSent(id);
  return undefined;
};

/** Deletes one message for good. The log contains its id, and never its body. */
export const discard = async (deps: DeadLetterDeps, from: FinalQueue, deadLetter: DeadLetter): Promise<undefined> => {
  await deps.deadLetters.remove(from, deadLetter);
  deps.report({ event: 'discarded', queue: from, messageId: deadLetter.messageId });
};

/** Deletes all messages that were in the queue when the walk began. */
export const discardAll = (deps: DeadLetterDeps, from: FinalQueue, walk: Walk): Promise<Walked> =>
  walkDeadLetters(deps, from, walk, (deadLetter) => discard(deps, from, deadLetter));
