/**
 * Sends dead letters again. The sweep does this with growing delays, and an operator can do it at once.
 *
 * The state is in the tables, and a message between functions only causes a function to read it. So it is harmless to
 * send such a message again, but its loss could strand a Target. The causes of its failure, such as a throttled table
 * or a broken deployment, are temporary. Events for destinations are sent again too, but only for a limited time,
 * because their destination may never accept them. After that time, an event is moved to the queue of given-up events,
 * so that it does not delay other messages.
 *
 * A walk handles each dead letter that was in the queue when the walk began, and handles it once. A message may fail
 * again and become a new dead letter. Without this limit, a walk might never end.
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
import { isFinal, type Released, release } from './browse.ts';

export interface Walk {
  /** When the walk began. Dead letters that were sent later are left to another walk. */
  readonly began: Millis;
  /**
   * Whether to continue. Called before each receive. @param skipped number of dead letters that were not sent so far.
   */
  readonly mayGoOn: (skipped: number) => boolean;
}

/** A dead letter that was not sent again, and why. */
interface SkippedDeadLetter {
  /** The SQS message id. */
  readonly id: string;
  readonly reason: string;
}

export interface Walked {
  /** Number of dead letters sent again. */
  readonly revived: number;
  readonly skipped: readonly SkippedDeadLetter[];
  /** The errors of dead letters that could not be handled. They stay in their queue. */
  readonly failures: readonly unknown[];
  /** Whether the walk reached the end of the queue. Otherwise `mayGoOn` stopped it. */
  readonly isDone: boolean;
}

/**
 * Handles each dead letter of a queue. A dead letter that fails does not affect the others.
 *
 * @param turn handles a dead letter. It resolves to the reason if the dead letter was not sent, otherwise to undefined.
 */
export const walkDeadLetters = async (
  deps: DeadLetterDeps,
  queue: DeadLetterQueue,
  { began, mayGoOn }: Walk,
  turn: (deadLetter: DeadLetter) => Promise<string | undefined>,
): Promise<Walked> => {
  const met = new Set<string>();
  const skipped: SkippedDeadLetter[] = [];
  const failures: unknown[] = [];
  const left: Released[] = [];
  let revived = 0;
  const take = (deadLetter: DeadLetter): Promise<string | undefined> =>
    turn(deadLetter).catch((cause: unknown) => {
      deps.report({ event: 'not-revived', queue, messageId: deadLetter.messageId, cause: String(cause) });
      failures.push(cause);
      return reasonOf(cause);
    });
  while (mayGoOn(skipped.length)) {
    // Leave out dead letters that were skipped before: they are received again when their visibility timeout ends.
    const letters = (await deps.deadLetters.receive(queue)).filter(({ messageId }) => !met.has(messageId));
    if (letters.length === 0) {
      // Otherwise a call that follows would not see them until their visibility timeout ends.
      if (isFinal(queue)) await release(deps, queue, left);
      return { revived, skipped, failures, isDone: true };
    }
    for (const { messageId } of letters) met.add(messageId);
    // `sentAt` comes from the clock of SQS, which differs from this function's clock.
    const due = letters.filter(({ sentAt }) => sentAt <= began + CLOCK_SKEW);
    const reasons = await Promise.all(due.map(take));
    for (const [index, { messageId, receipt }] of due.entries()) {
      const reason = reasons[index];
      if (reason === undefined) revived += 1;
      else {
        skipped.push({ id: messageId, reason });
        left.push({ messageId, receipt });
      }
    }
  }
  return { revived, skipped, failures, isDone: false };
};

export interface RedriveDelay {
  readonly from: DeadLetterQueue;
  readonly to: SourceQueue;
  readonly deadLetter: DeadLetter;
  /** The body to send. It may differ from the received body: a register message without an id gets one. */
  readonly body: string;
  /** Delay of the message in seconds. */
  readonly delay: number;
}

/**
 * Q1. Sends the message before it deletes the dead letter. A crash in between sends the message twice, which is
 * harmless. The other order would lose it.
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

/**
 * Deletes a dead letter that was handled. If this fails, the dead letter is received and sent again, which is harmless.
 */
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
 * The longest register body that is sent again, in bytes. A longer body leaves no space for its id and its redrive
 * count in a message of 1 MiB. Because a payload may have only a quarter of that size, a longer body consists largely
 * of white space.
 */
const REVIVED_MAX_BYTES = 1_000_000;

/**
 * Sends a queue's dead letters again.
 *
 * @param delayOf the delay in seconds, or `give up` to move an event to the queue of given-up events.
 */
export const redriveDeadLetterQueue = (
  deps: DeadLetterDeps,
  queue: SourceQueue,
  walk: Walk,
  delayOf: (deadLetter: DeadLetter) => number | 'give up',
): Promise<Walked> =>
  walkDeadLetters(deps, queue, walk, async (deadLetter) => {
    const body = queue === 'register' ? withId(deadLetter.body, deadLetter.messageId) : deadLetter.body;
    const problem = permanentProblem(queue, body);
    if (problem !== undefined) return reject(deps, queue, deadLetter, problem);
    const delay = delayOf(deadLetter);
    if (delay === 'give up') await giveUp(deps, deadLetter);
    else await redrive(deps, { from: queue, to: queue, deadLetter, body, delay });
    return undefined;
  });

/** Moves a message to the rejected queue. @returns the reason why the message was not sent again. */
const reject = async (
  deps: DeadLetterDeps,
  queue: SourceQueue,
  deadLetter: DeadLetter,
  reason: string,
): Promise<string> => {
  const { messageId, body, sender } = deadLetter;
  const at = deps.machine.now();
  await deps.queues.reject([{ messageId, body, problems: [{ path: '', reason }], at, ...(sender ? { sender } : {}) }]);
  deps.report({ event: 'unreadable', queue, messageId });
  await remove(deps, queue, deadLetter);
  return `${reason}; the message is in the rejected queue now`;
};

/**
 * Why this message can never be handled. Undefined if it can. The register function itself refuses register messages
 * that it cannot parse, with their reasons.
 */
const permanentProblem = (queue: SourceQueue, body: string): string | undefined => {
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
    // This is not permanent: the next deployment of newer code can read the message.
    if (cause instanceof NewerMessage) return undefined;
    throw cause;
  }
};

/**
 * Moves a dead letter to the queue of given-up events. The event is sent before the dead letter is deleted: a crash in
 * between duplicates the event, but in the other order it would lose the event.
 */
const giveUp = async (deps: DeadLetterDeps, deadLetter: DeadLetter): Promise<void> => {
  const { messageId, body } = deadLetter;
  await deps.queues.giveUp([body]);
  deps.report({ event: 'given-up', destination: parseCallback(body).to, messageId });
  await remove(deps, 'callback', deadLetter);
};
