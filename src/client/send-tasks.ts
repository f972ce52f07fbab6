/** What a producer's client does, however its messages are carried. */

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
 * Some tasks were sent, or may have been, and others were not. The error's `cause` says why: SqsFailure, GaveUp,
 * UnsendableTask, an error of the AWS SDK, or one of the iterable that gave the tasks.
 *
 * When it is thrown no request is under way, and the iterable is closed. Each task that was read has its id, made up
 * where it had none. To go on, send `left`, and what comes after the first `read` tasks: no task is registered twice then.
 *
 * ```ts
 * await groupage.sendAll([...error.left, ...tasks.slice(error.read)]);
 * ```
 */
export class NotAllSent<Task = TaskToSend<Operations>> extends Error {
  override readonly name = 'NotAllSent';
  /** Ids of tasks that the register queue has, in the order given. */
  readonly sent: readonly string[];
  /** Ids of tasks whose request was refused, or got no answer: the register queue may have them all the same. */
  readonly failed: readonly string[];
  /** Ids of tasks that no request was made for: the register queue has none of them. */
  readonly unsent: readonly string[];
  /** The tasks of `failed` and `unsent` with their ids, at most 500, in the order given. */
  readonly left: readonly Task[];
  /** How many tasks were read of those given: all in `sent`, `failed` and `unsent`. The others have no ids yet. */
  readonly read: number;
  constructor(tasks: Pick<NotAllSent<Task>, 'sent' | 'failed' | 'unsent' | 'left'>, cause: unknown) {
    const { sent, failed, unsent, left } = tasks;
    const read = sent.length + left.length;
    super(
      `${sent.length} of the ${read} tasks that were read are sent, ${failed.length} may be, ${unsent.length} are not: ${reasonOf(cause)}; send those in "left", which have their ids, and the others after the first ${read}: none is registered twice`,
      { cause },
    );
    this.sent = sent;
    this.failed = failed;
    this.unsent = unsent;
    this.left = left;
    this.read = read;
  }
}

/** Sends messages; answers what became of them. Must not reject. */
export type Carry = (messages: readonly RegisterMessage[]) => Promise<Sending>;

/**
 * A client whose messages `carry` sends.
 *
 * @param newId names the tasks that have no id @param atOnce how many tasks are held in memory, and reported, at once
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
      // Nothing was sent, and nothing can have been. A list can be sent again as it was given; what else was read may be gone.
      const isAsGiven = Array.isArray(tasks) || slice.length === 0;
      if (isAsGiven && sent.length === 0 && failed.length === 0) throw cause;
      const left = slice.filter((_, index) => outcomes[index]?.is !== 'sent');
      throw new NotAllSent({ sent, failed, unsent: is('unsent').map(({ id }) => id), left }, cause);
    }
  };
  return { send: async (task) => (await sendAll([task]))[0] as string, sendAll };
};
