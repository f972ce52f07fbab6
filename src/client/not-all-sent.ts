/** The error of a `sendAll` that ended before all was sent. */
import { reasonOf } from '../util/problems.ts';
import type { Operations, TaskToSend } from './sent-tasks.ts';

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
