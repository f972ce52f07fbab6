/**
 * Dead letters are sent again: by the sweep, later and later; by a person, at once.
 *
 * The inner messages are hints whose truth is in the tables, so sending one again is always harmless, and never
 * sending it again could strand a Target. Whatever made them fail (a throttled table, a broken deployment) passes. Events
 * for destinations are sent again likewise, but not for ever: what keeps them from their destination is not ours. Events that
 * are given up lie in a queue of their own, where they stand in no other message's way.
 *
 * Each letter that lay in a queue when a walk through it began has one turn. What is sent again may fail again, and then lies
 * there once more. A walk that took it for one of those that it began with would never end.
 */

import { parseBatch, parseElect, parseGroup } from '../../domain/batches/messages.ts';
import { hasDestinations, parseCallback } from '../../domain/callbacks/callback.ts';
import type { Config } from '../../domain/config/resolved.ts';
import type { Millis } from '../../domain/ids.ts';
import { NewerMessage, UnreadableMessage } from '../../domain/messages.ts';
import { withId } from '../../domain/register/register-body.ts';
import { CLOCK_SKEW } from '../../domain/timings.ts';
import type { DeadLetter, DeadLetterQueue, SourceQueue } from '../../ports/queues.ts';
import { reasonOf } from '../../util/problems.ts';
import type { DeadLetterDeps } from '../deps.ts';

export interface Walk {
  /** Letters that were sent later have their turn in another walk. */
  readonly began: Millis;
  /** Asked before each look into the queue. @param skipped how many letters were not sent so far. */
  readonly mayGoOn: (skipped: number) => boolean;
}

/** A letter that was not sent again, and why. */
interface SkippedDeadLetter {
  /** The SQS id of its message. */
  readonly id: string;
  readonly reason: string;
}

export interface Walked {
  /** How many letters were sent again. */
  readonly revived: number;
  readonly skipped: readonly SkippedDeadLetter[];
  /** Whether the end of the queue was seen. Otherwise the walk was not allowed to go on. */
  readonly isDone: boolean;
}

/**
 * Gives letters their turns. One that fails keeps no other one waiting.
 *
 * @param turn says why a letter was not sent, if it was not.
 */
export const walkDeadLetters = async (
  deps: DeadLetterDeps,
  queue: DeadLetterQueue,
  { began, mayGoOn }: Walk,
  turn: (deadLetter: DeadLetter) => Promise<string | undefined>,
): Promise<Walked> => {
  const met = new Set<string>();
  const skipped: SkippedDeadLetter[] = [];
  let revived = 0;
  const take = (deadLetter: DeadLetter): Promise<string | undefined> =>
    turn(deadLetter).catch((cause: unknown) => {
      deps.report({ event: 'not-revived', queue, messageId: deadLetter.messageId, cause: String(cause) });
      return reasonOf(cause);
    });
  while (mayGoOn(skipped.length)) {
    // One that was skipped is there again when its visibility timeout ends.
    const letters = (await deps.deadLetters.receive(queue)).filter(({ messageId }) => !met.has(messageId));
    if (letters.length === 0) return { revived, skipped, isDone: true };
    for (const { messageId } of letters) met.add(messageId);
    // By the clock of SQS, which is not ours.
    const due = letters.filter(({ sentAt }) => sentAt <= began + CLOCK_SKEW);
    const reasons = await Promise.all(due.map(take));
    for (const [index, { messageId: id }] of due.entries()) {
      const reason = reasons[index];
      if (reason === undefined) revived += 1;
      else skipped.push({ id, reason });
    }
  }
  return { revived, skipped, isDone: false };
};

export interface RedriveDelay {
  readonly from: DeadLetterQueue;
  readonly to: SourceQueue;
  readonly deadLetter: DeadLetter;
  /** What is sent, which may be better than what was received. */
  readonly body: string;
  /** In how many seconds it is delivered. */
  readonly delay: number;
}

/**
 * Sends before it deletes: a crash in between doubles the message, which is harmless; the other way round loses it.
 *
 * @returns the SQS id of the message that was sent.
 */
export const redrive = async (
  deps: DeadLetterDeps,
  { from, to, deadLetter, body, delay }: RedriveDelay,
): Promise<string> => {
  const { messageId, revivals } = deadLetter;
  const sent = await deps.deadLetters.redrive(to, { ...deadLetter, body }, delay);
  deps.report({ event: 'revived', queue: from, messageId, revivals: revivals + 1, delay });
  await remove(deps, from, deadLetter);
  return sent;
};

/** Takes out a letter that has had its turn. One that cannot be taken out has had it all the same: it comes once more. */
const remove = async ({ deadLetters, report }: DeadLetterDeps, queue: DeadLetterQueue, deadLetter: DeadLetter) => {
  try {
    await deadLetters.remove(queue, deadLetter);
  } catch (cause) {
    report({ event: 'not-removed', queue, messageId: deadLetter.messageId, cause: String(cause) });
  }
};

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
export const redriveDeadLetterQueue = (
  deps: DeadLetterDeps,
  queue: SourceQueue,
  walk: Walk,
  delayOf: (deadLetter: DeadLetter) => number | 'give up',
): Promise<Walked> =>
  walkDeadLetters(deps, queue, walk, async (deadLetter) => {
    const body = queue === 'register' ? withId(deadLetter.body, deadLetter.messageId) : deadLetter.body;
    const problem = hopeless(queue, body);
    if (problem !== undefined) return reject(deps, queue, deadLetter, problem);
    const delay = delayOf(deadLetter);
    if (delay === 'give up') await giveUp(deps, deadLetter);
    else await redrive(deps, { from: queue, to: queue, deadLetter, body, delay });
    return undefined;
  });

/** @returns why it was not sent. */
const reject = async (
  deps: DeadLetterDeps,
  queue: SourceQueue,
  deadLetter: DeadLetter,
  reason: string,
): Promise<string> => {
  const { messageId, body } = deadLetter;
  await deps.queues.reject([{ messageId, body, problems: [{ path: '', reason }], at: deps.machine.now() }]);
  deps.report({ event: 'unreadable', queue, messageId });
  await remove(deps, queue, deadLetter);
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

/** Moves a dead letter. Sends before it deletes: a crash in between doubles the event, the other way round loses it. */
const giveUp = async (deps: DeadLetterDeps, deadLetter: DeadLetter): Promise<void> => {
  const { messageId, body } = deadLetter;
  await deps.queues.giveUp([body]);
  deps.report({ event: 'given-up', destination: parseCallback(body).to, messageId });
  await remove(deps, 'callback', deadLetter);
};
