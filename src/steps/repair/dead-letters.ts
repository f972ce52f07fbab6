/**
 * Dead letters are sent again: by the sweep, later and later; by a person, at once.
 *
 * The inner messages are hints whose truth is in the tables, so sending one again is always harmless, and never
 * sending it again could strand a Target. Whatever made them fail (a throttled table, a broken deployment) passes. Events
 * for destinations are sent again likewise, but not for ever (`given-up.ts`).
 */

import { parseBatch, parseElect, parseGroup } from '../../domain/batches/messages.ts';
import { hasDestinations, parseCallback } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { withId } from '../../domain/register/register-message.ts';
import type { DeadLetter } from '../../ports/dead-letters.ts';
import type { SourceQueue } from '../../ports/queues.ts';
import { giveUp } from './given-up.ts';
import { type LetterDeps, remove, revive, type Walk, type Walked, walkLetters } from './walk-letters.ts';

const WORKING_QUEUES = ['register', 'elect', 'group', 'batch'] as const;

/** The queues whose dead letters are sent again. */
export const sourceQueues = (config: Config): readonly SourceQueue[] =>
  hasDestinations(config) ? [...WORKING_QUEUES, 'callback'] : WORKING_QUEUES;

/**
 * A register body that is longer has no place left for its id and its count of revivals in a message of 1 MiB. Its
 * payload may have a quarter of that, so it is mostly space.
 */
const REVIVED_MAX_BYTES = 1_000_000;

/**
 * Sends a queue's dead letters again.
 *
 * @param delayOf in how many seconds a letter is delivered; `give up` moves an event to the queue of those given up.
 */
export const reviveDeadLetters = (
  deps: LetterDeps,
  queue: SourceQueue,
  walk: Walk,
  delayOf: (letter: DeadLetter) => number | 'give up',
): Promise<Walked> =>
  walkLetters(deps, queue, walk, async (letter) => {
    const body = queue === 'register' ? withId(letter.body, letter.messageId) : letter.body;
    const problem = hopeless(queue, body);
    if (problem !== undefined) return reject(deps, queue, letter, problem);
    const delay = delayOf(letter);
    if (delay === 'give up') await giveUp(deps, letter);
    else await revive(deps, { from: queue, to: queue, letter, body, delay });
    return undefined;
  });

/** @returns why it was not sent. */
const reject = async (deps: LetterDeps, queue: SourceQueue, letter: DeadLetter, reason: string): Promise<string> => {
  const { messageId, body } = letter;
  await deps.queues.reject([{ messageId, body, problems: [{ path: '', reason }], at: deps.machine.now() }]);
  deps.report({ event: 'unreadable', queue, messageId });
  await remove(deps, queue, letter);
  return `${reason}; it lies in the rejected queue now`;
};

/** Why sending this message again can never help. The register λ refuses what it cannot read by itself, with reasons. */
const hopeless = (queue: SourceQueue, body: string): string | undefined => {
  if (queue === 'register')
    return Buffer.byteLength(body) > REVIVED_MAX_BYTES
      ? `register queue: the message has more than ${REVIVED_MAX_BYTES} bytes`
      : undefined;
  const parse = { elect: parseElect, group: parseGroup, batch: parseBatch, callback: parseCallback }[queue];
  try {
    parse(body);
    return undefined;
  } catch (cause) {
    if (cause instanceof UnreadableMessage) return `${queue} queue: ${cause.message}`;
    // Until somebody is there who can read it.
    if (cause instanceof NewerMessage) return undefined;
    throw cause;
  }
};
