/**
 * Dead letters are sent again: by the sweep, later and later; by a person, at once.
 *
 * The inner messages are hints whose truth is in the tables, so sending one again is always harmless, and never
 * sending it again could strand a Target. Whatever made them fail (a throttled table, a broken deployment) passes.
 */
import type { DeadLetter, WorkingQueue } from '../ports.ts';
import { parseBatch, parseElect, parseGroup, UnreadableMessage } from './messages.ts';
import { withId } from './register-message.ts';
import { type LetterDeps, remove, revive, type Walk, type Walked, walkLetters } from './walk-letters.ts';

export const WORKING_QUEUES: readonly WorkingQueue[] = ['register', 'elect', 'group', 'batch'];

/**
 * A register body that is longer has no place left for its id and its count of revivals in a message of 1 MiB. Its
 * payload may have a quarter of that, so it is mostly space.
 */
const REVIVED_MAX_BYTES = 1_000_000;

/** @param delayOf in how many seconds a letter is delivered that was sent again so many times. */
export const reviveDeadLetters = (
  deps: LetterDeps,
  queue: WorkingQueue,
  walk: Walk,
  delayOf: (revivals: number) => number,
): Promise<Walked> =>
  walkLetters(deps, queue, walk, async (letter) => {
    const body = queue === 'register' ? withId(letter.body, letter.messageId) : letter.body;
    const problem = hopeless(queue, body);
    if (problem !== undefined) return reject(deps, queue, letter, problem);
    await revive(deps, { from: queue, to: queue, letter, body, delay: delayOf(letter.revivals) });
    return undefined;
  });

/** @returns why it was not sent. */
const reject = async (deps: LetterDeps, queue: WorkingQueue, letter: DeadLetter, reason: string): Promise<string> => {
  const { messageId, body } = letter;
  await deps.queues.reject([{ messageId, body, problems: [{ path: '', reason }], at: deps.machine.now() }]);
  deps.report({ event: 'unreadable', queue, messageId });
  await remove(deps, queue, letter);
  return `${reason}; it lies in the rejected queue now`;
};

/** Why sending this message again can never help. The register λ refuses what it cannot read by itself, with reasons. */
const hopeless = (queue: WorkingQueue, body: string): string | undefined => {
  if (queue === 'register')
    return Buffer.byteLength(body) > REVIVED_MAX_BYTES
      ? `register queue: the message has more than ${REVIVED_MAX_BYTES} bytes`
      : undefined;
  const parse = { elect: parseElect, group: parseGroup, batch: parseBatch }[queue];
  try {
    parse(body);
    return undefined;
  } catch (cause) {
    if (cause instanceof UnreadableMessage) return `${queue} queue: ${cause.message}`;
    throw cause;
  }
};
