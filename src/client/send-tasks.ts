/** The producer's client. The function that sends its messages is passed in. */

import type { Sending } from '../domain/register/sending.ts';
import { reasonOf } from '../util/problems.ts';
import {
  type Client,
  messageOf,
  type NamedTask,
  named,
  type Operations,
  type RegisterMessage,
  type TaskToSend,
} from './sent-tasks.ts';

/**
 * Sending failed part-way: some tasks were sent, and others may not have been. `cause` has the reason: SqsFailure,
 * GaveUp, UnsendableTask, an error of the AWS SDK, or an error of the iterable that gave the tasks.
 *
 * When it is thrown, no request is in flight and the iterable is closed. Each task that was read has an id, generated
 * if the caller gave none. To continue, send `left` and the tasks after the first `read`. No task is then registered
 * twice.
 *
 * ```ts
 * await groupage.sendAll([...error.left, ...tasks.slice(error.read)]);
 * ```
 */
export class NotAllSent<Task = TaskToSend<Operations>> extends Error {
  override readonly name = 'NotAllSent';
  /** Ids of the tasks that are in the register queue, in the order given. */
  readonly sent: readonly string[];
  /**
   * Ids of the tasks whose request was refused or got no answer. The register queue may have these tasks nevertheless.
   */
  readonly failed: readonly string[];
  /** Ids of the tasks for which no request was made. The register queue has none of these tasks. */
  readonly unsent: readonly string[];
  /** The tasks of `failed` and `unsent` with their ids, in the order given: at most 500 tasks. */
  readonly left: readonly Task[];
  /**
   * Number of tasks that were read: the sum of `sent`, `failed` and `unsent`. The tasks after these have no ids yet.
   */
  readonly read: number;
  constructor(tasks: Pick<NotAllSent<Task>, 'sent' | 'failed' | 'unsent' | 'left'>, cause: unknown) {
    const { sent, failed, unsent, left } = tasks;
    const read = sent.length + left.length;
    super(
      `${read} tasks were read: ${sent.length} were sent, ${failed.length} were possibly sent, and ${unsent.length} were not sent: ${reasonOf(cause)}. Send the tasks in "left" with the ids that they have, and then all tasks after the first ${read}; no task is registered twice`,
      { cause },
    );
    this.sent = sent;
    this.failed = failed;
    this.unsent = unsent;
    this.left = left;
    this.read = read;
  }
}

/** Sends messages and returns the outcome of each. Must not reject. */
export type Carry = (messages: readonly RegisterMessage[]) => Promise<Sending>;

/**
 * Creates a producer's client.
 *
 * @param carry sends the messages
 * @param newId generates the ids of tasks that have none
 * @param atOnce maximum number of tasks that are held in memory, and the number of tasks after which progress is
 * reported
 */
export const clientBy = <Known extends Operations>(
  carry: Carry,
  newId: () => string,
  atOnce: number,
): Client<Known> => {
  const sendAll: Client<Known>['sendAll'] = async (tasks, { onProgress } = {}) => {
    const sent: string[] = [];
    let slice: NamedTask<Known>[] = [];
    let outcomes: Sending['outcomes'] = [];
    const flush = async (): Promise<void> => {
      const carried = await carry(slice.map((task, index) => messageOf(task, sent.length + index)));
      outcomes = carried.outcomes;
      if (carried.failure) throw carried.failure.cause;
      for (const { id } of slice) sent.push(id);
      [slice, outcomes] = [[], []];
      onProgress?.(sent.length);
    };
    try {
      for await (const task of tasks) {
        slice.push(named(task, newId));
        if (slice.length === atOnce) await flush();
      }
      if (slice.length > 0) await flush();
      return sent;
    } catch (cause) {
      const is = (what: Sending['outcomes'][number]['is']) =>
        slice.filter((_, index) => (outcomes[index]?.is ?? 'unsent') === what);
      const failed = is('failed').map(({ id }) => id);
      sent.push(...is('sent').map(({ id }) => id));
      // Nothing can have been sent. The caller can send an array again as it was given. Tasks that were read from
      // another iterable may be gone, so the error must contain them.
      const isAsGiven = Array.isArray(tasks) || slice.length === 0;
      if (isAsGiven && sent.length === 0 && failed.length === 0) throw cause;
      const left = slice.filter((_, index) => outcomes[index]?.is !== 'sent');
      throw new NotAllSent({ sent, failed, unsent: is('unsent').map(({ id }) => id), left }, cause);
    }
  };
  return { send: async (task) => (await sendAll([task]))[0] as string, sendAll };
};
