/**
 * Dead letters are sent again: by the sweep, later and later; by a person, at once. Refused messages by a person alone,
 * where they would not be refused any more.
 *
 * The inner messages are hints whose truth is in the tables, so sending one again is always harmless, and never
 * sending it again could strand a Target. Whatever made them fail (a throttled table, a broken deployment) passes.
 */
import type { DeadLetter, LetterQueue, WorkingQueue } from '../ports.ts';
import type { Deps } from './deps.ts';
import { parseBatch, parseElect, parseGroup, UnreadableMessage } from './messages.ts';
import { describeProblems, reasonOf } from './problems.ts';
import { parseRedrive } from './redrive.ts';
import { parseRegisterMessage, withId } from './register-message.ts';
import { parseRejection } from './rejection.ts';

export type LetterDeps = Pick<Deps, 'config' | 'deadLetters' | 'queues' | 'machine' | 'report'>;

export const WORKING_QUEUES: readonly WorkingQueue[] = ['register', 'elect', 'group', 'batch'];

/**
 * A register body that is longer has no place left for its id and its count of revivals in a message of 1 MiB. Its
 * payload may have a quarter of that, so it is mostly space.
 */
const REGISTER_BODY_MAX = 1_000_000;

export interface HowToRevive {
  /** In how many seconds a letter is delivered that was sent again so many times. */
  readonly delayOf: (revivals: number) => number;
  /** Asked before each look into the queue. */
  readonly mayGoOn: () => boolean;
}

/** A letter that was not sent again, and why. */
interface LeftLetter {
  /** The SQS id of its message. */
  readonly id: string;
  readonly reason: string;
}

interface Revived {
  readonly revived: number;
  readonly left: readonly LeftLetter[];
}

/** Sends everything again that lies in a dead-letter queue, or in the rejected one, as long as it may go on. */
export const reviveAll = async (deps: LetterDeps, queue: LetterQueue, how: HowToRevive): Promise<Revived> => {
  const seen = new Set<string>();
  const left: LeftLetter[] = [];
  while (how.mayGoOn()) {
    // One that was left is there again when its visibility timeout ends: it has had its turn.
    const letters = (await deps.deadLetters.receive(queue)).filter(({ messageId }) => !seen.has(messageId));
    if (letters.length === 0) break;
    const reasons = await Promise.all(letters.map((letter) => reviveOrLeave(deps, queue, letter, how)));
    for (const [index, { messageId: id }] of letters.entries()) {
      const reason = reasons[index];
      seen.add(id);
      if (reason !== undefined) left.push({ id, reason });
    }
  }
  return { revived: seen.size - left.length, left };
};

/** One letter that cannot be sent again keeps no other one waiting. @returns why it was not sent, if it was not. */
const reviveOrLeave = async (
  deps: LetterDeps,
  queue: LetterQueue,
  letter: DeadLetter,
  how: HowToRevive,
): Promise<string | undefined> => {
  try {
    return await (queue === 'rejected' ? reviveRefused(deps, letter, how) : reviveDeadLetter(deps, queue, letter, how));
  } catch (cause) {
    deps.report({ event: 'not-revived', queue, messageId: letter.messageId, cause: String(cause) });
    return reasonOf(cause);
  }
};

const reviveDeadLetter = async (
  deps: LetterDeps,
  queue: WorkingQueue,
  letter: DeadLetter,
  how: HowToRevive,
): Promise<string | undefined> => {
  const { messageId } = letter;
  const body = queue === 'register' ? withId(letter.body, messageId) : letter.body;
  const problem = hopeless(queue, body);
  if (!problem) return send(deps, { from: queue, to: queue, letter, body }, how);
  const at = deps.machine.now();
  await deps.queues.reject([{ messageId, body: letter.body, problems: [{ path: '', reason: problem }], at }]);
  deps.report({ event: 'unreadable', queue, messageId });
  await deps.deadLetters.remove(queue, letter);
  return `${problem}; it lies in the rejected queue now`;
};

const reviveRefused = async (deps: LetterDeps, letter: DeadLetter, how: HowToRevive): Promise<string | undefined> => {
  const refused = parseRejection(letter.body);
  if (!refused) return 'not a message that Groupage refused: only its own λs may write to the rejected queue';
  if (refused.isCut) return 'its body was too large to be kept whole: send the task anew';
  // Under the id that it would have had: to register it again is harmless.
  const body = withId(refused.body, refused.messageId);
  const problem = hopeless('register', body) ?? refusedAgain(deps, refused.messageId, body);
  return problem ?? send(deps, { from: 'rejected', to: 'register', letter, body }, how);
};

interface Way {
  readonly from: LetterQueue;
  readonly to: WorkingQueue;
  readonly letter: DeadLetter;
  /** What is sent, which may be better than what was received. */
  readonly body: string;
}

/** Sends before it deletes: a crash in between doubles the message, which is harmless; the other way round loses it. */
const send = async (
  { deadLetters, report }: LetterDeps,
  { from, to, letter, body }: Way,
  { delayOf }: HowToRevive,
): Promise<undefined> => {
  const { messageId, revivals } = letter;
  const delay = delayOf(revivals);
  await deadLetters.revive(to, { ...letter, body }, delay);
  report({ event: 'revived', queue: from, messageId, revivals: revivals + 1, delay });
  await deadLetters.remove(from, letter);
};

/** Why sending this message again can never help. The register λ refuses what it cannot read by itself, with reasons. */
const hopeless = (queue: WorkingQueue, body: string): string | undefined => {
  if (queue === 'register')
    return Buffer.byteLength(body) > REGISTER_BODY_MAX
      ? `register queue: the message has more than ${REGISTER_BODY_MAX} bytes`
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

/** Why the register λ would refuse a message as it did before, as far as that can be told without the tables. */
const refusedAgain = ({ config }: LetterDeps, messageId: string, body: string): string | undefined => {
  const parsed = parseRedrive(body) ?? parseRegisterMessage(config, { messageId, body });
  return parsed.ok
    ? undefined
    : `it would be refused again: ${describeProblems(parsed.problems).replaceAll('\n', '; ')}`;
};
