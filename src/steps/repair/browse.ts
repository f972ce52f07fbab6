/**
 * Reads messages of a queue without a function, and handles single ones.
 *
 * SQS cannot read a message without receiving it, and hides a received message from all other readers for a while. So
 * these steps hide messages only for a short time, and release all that they leave in the queue as soon as they end. If
 * the function dies before, the messages become visible by themselves. None of these queues has a dead-letter queue, so
 * no message is lost or moved however often it is read.
 */

import type { Millis } from '../../domain/ids.ts';
import type { DeadLetter, DeadLetterQueue, FinalQueue } from '../../ports/queues.ts';
import { reasonOf } from '../../util/problems.ts';
import type { DeadLetterDeps } from '../deps.ts';

/** Whether the messages of a queue stay until a user handles them. */
export const isFinal = (queue: DeadLetterQueue): queue is FinalQueue => queue === 'rejected' || queue === 'given-up';

/** How long a list hides the messages that it reads, at the longest, in seconds. */
const LIST_HIDES = 5;
/** A list reads for at most this long, in milliseconds. The last receive may add one second. */
const LIST_TIME: Millis = 2_000;
/** How long messages are hidden while single ones are searched for, at the longest, in seconds. */
const SEARCH_HIDES = 20;

export interface Listed {
  readonly letters: readonly DeadLetter[];
  /** Approximate number of messages in the queue, including the hidden ones. */
  readonly count: number;
}

/**
 * Reads some messages of a queue, the oldest first. The list may lack messages: those that another reader has received,
 * and those beyond the limit.
 */
export const listLetters = async (deps: DeadLetterDeps, queue: DeadLetterQueue, limit: number): Promise<Listed> => {
  const { deadLetters, machine } = deps;
  const end = machine.now() + LIST_TIME;
  const found = new Map<string, DeadLetter>();
  const count = await deadLetters.count(queue);
  try {
    do {
      const letters = (await deadLetters.receive(queue, LIST_HIDES)).filter(({ messageId }) => !found.has(messageId));
      if (letters.length === 0) break;
      for (const each of letters) found.set(each.messageId, each);
      // Do not wait for more messages than there are: an empty receive takes a second, in which all others are hidden.
    } while (found.size < Math.min(limit, count) && machine.now() < end);
  } finally {
    await release(deps, queue, [...found.values()]);
  }
  const letters = [...found.values()].toSorted((a, b) => a.sentAt - b.sentAt).slice(0, limit);
  return { letters, count: Math.max(count, letters.length) };
};

/** A message to release. */
export type Released = Pick<DeadLetter, 'messageId' | 'receipt'>;

/** What happened to chosen messages. */
export interface Chosen {
  readonly done: number;
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly failures: readonly unknown[];
}

const NOT_FOUND =
  'no visible message has this id: it was sent again or deleted already, or another reader has received it. Try again in 30 seconds';
const NOT_REACHED = 'the time was over before this message was found, because the queue has many messages. Try again';

/**
 * Handles the messages with these ids, and leaves all others in the queue.
 *
 * @param mayGoOn called before each receive. The steps must not take longer than 15 s altogether, because the messages
 *   are hidden for 20 s.
 * @param turn handles a message. It resolves to the reason if the message stays in the queue.
 */
export const handleChosen = async (
  deps: DeadLetterDeps,
  queue: DeadLetterQueue,
  ids: readonly string[],
  mayGoOn: () => boolean,
  turn: (deadLetter: DeadLetter) => Promise<string | undefined>,
): Promise<Chosen> => {
  const wanted = new Set(ids);
  const met = new Map<string, Released>();
  const skipped: { id: string; reason: string }[] = [];
  const failures: unknown[] = [];
  let done = 0;
  let isAll = false;
  const take = async (deadLetter: DeadLetter): Promise<void> => {
    const { messageId: id } = deadLetter;
    const reason = await turn(deadLetter).catch((cause: unknown) => {
      failures.push(cause);
      return reasonOf(cause);
    });
    if (reason === undefined) done += 1;
    else skipped.push({ id, reason });
  };
  try {
    while (wanted.size > 0 && mayGoOn() && !isAll) {
      const letters = (await deps.deadLetters.receive(queue, SEARCH_HIDES)).filter(
        ({ messageId }) => !met.has(messageId),
      );
      // Without the bodies: thousands of messages, of up to 256 KB each, do not fit into the function's memory.
      for (const { messageId, receipt } of letters) met.set(messageId, { messageId, receipt });
      isAll = letters.length === 0;
      const chosen = letters.filter(({ messageId }) => wanted.delete(messageId));
      await Promise.all(chosen.map(take));
    }
  } finally {
    // Those that were handled are deleted, so their release has no effect, unless it was a dry run.
    await release(deps, queue, [...met.values()]);
  }
  const missing = [...wanted].map((id) => ({ id, reason: isAll ? NOT_FOUND : NOT_REACHED }));
  return { done, skipped: [...skipped, ...missing], failures };
};

/** Lets other readers see the messages again. If this fails, they become visible by themselves. */
export const release = async (
  deps: DeadLetterDeps,
  queue: DeadLetterQueue,
  letters: readonly Released[],
): Promise<void> => {
  try {
    if (letters.length > 0) await deps.deadLetters.release(queue, letters);
  } catch (cause) {
    deps.report({ event: 'not-released', queue, messages: letters.length, cause: String(cause) });
  }
};
