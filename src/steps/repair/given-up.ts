/**
 * Events that are given up: what keeps them from their destination is not ours, and may never pass. They lie in a queue of
 * their own, where they stand in no other message's way, until a person has them sent again.
 */
import { happenedAt, parseCallback, unknownDestination } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import type { Millis } from '../../domain/ids.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { CALLBACK_PATIENCE } from '../../domain/timings.ts';
import type { DeadLetter } from '../../ports/dead-letters.ts';
import type { LetterQueue } from '../../ports/queues.ts';
import { describeProblem } from '../../util/problems.ts';
import { type LetterDeps, remove, revive, type Walk, type Walked, walkLetters } from './walk-letters.ts';

/** Whether an event is so old that only a person sends it again. @param body of a callback message. @throws UnreadableMessage */
export const isGivenUp = (body: string, now: Millis): boolean => {
  try {
    return happenedAt(parseCallback(body)) + CALLBACK_PATIENCE < now;
  } catch (cause) {
    // A release that can read it decides.
    if (cause instanceof NewerMessage) return false;
    throw cause;
  }
};

/** Moves a dead letter. Sends before it deletes: a crash in between doubles the event, the other way round loses it. */
export const giveUp = async (deps: LetterDeps, letter: DeadLetter): Promise<void> => {
  const { messageId, body } = letter;
  await deps.queues.giveUp([body]);
  deps.report({ event: 'given-up', destination: parseCallback(body).to, messageId });
  await remove(deps, 'callback', letter);
};

/** Sends events that were given up to the callback queue, for a person. */
export const reviveGivenUp = (deps: LetterDeps, walk: Walk): Promise<Walked> =>
  walkLetters(deps, 'given-up', walk, (letter) => reviveEvent(deps, 'given-up', letter, letter.body));

/** @returns why the event was not sent. The callback function refuses one for one reason alone: its destination is not configured. */
export const reviveEvent = async (
  deps: LetterDeps,
  from: LetterQueue,
  letter: DeadLetter,
  body: string,
): Promise<string | undefined> => {
  const problem = refusalOf(deps.config, body);
  if (problem !== undefined) return `it would be refused${from === 'rejected' ? ' again' : ''}: ${problem}`;
  await revive(deps, { from, to: 'callback', letter, body, delay: 0 });
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
