/** The tasks that a producer's client accepts, and the messages that it makes from them. */

import type { Duration } from '../domain/config/duration.ts';
import { taskId } from '../domain/ids.ts';
import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';

/** Operations and the types of their payloads, e.g. `{ 'distribute-parcels': Parcel }`. */
export type Operations = Readonly<Record<string, object>>;

/** A task to register. */
export type TaskToSend<Known extends Operations> = {
  [Operation in keyof Known & string]: {
    readonly operation: Operation;
    readonly payload: Known[Operation];
    /** Id of the task. A second task with the same id is ignored as a duplicate. Generated if absent. */
    readonly id?: string;
    /** The caller's own key for finding the task: at most 128 characters. The API shows it with the task. */
    readonly correlationId?: string;
    /** Priority of the task: 0 to 9, where 9 is the most urgent. Urgent tasks go into a batch first. */
    readonly priority?: number;
    /** Weight that the task adds to its batch's weight (tokens, rows, euros): above 0. @default 1 */
    readonly weight?: number;
    /**
     * Key for replacing older tasks: 1 to 128 characters. If a newer waiting task of the same Target has the same key,
     * it replaces this task, which then counts as succeeded.
     */
    readonly coalesceKey?: string;
    /**
     * Version of the state that the task carries: a whole number, such as a row's version or its time in milliseconds.
     * `coalesceKey` and `merge` keep the task with the highest version. Without versions, they keep the task that was
     * sent last.
     */
    readonly version?: number;
    /**
     * Longest time from registration until a batch contains the task: `"1s"` to `"30d"`. After this time, a task that
     * no batch contains fails.
     */
    readonly expiresIn?: Duration;
    /** The configured destination that gets the task's callback, instead of the operation's. */
    readonly callback?: string;
    /** Item of a fan-out (`fanOutId:groupId:index`). When the task ends, the item is acked with the task's outcome. */
    readonly fanOutItem?: string;
  };
}[keyof Known & string];

/** Options of {@link Client.sendAll}. */
export interface SendOptions {
  /** Called with the number of tasks sent so far. */
  readonly onProgress?: (sent: number) => void;
}

/** A producer's client. Made by `createClient`. */
export interface Client<Known extends Operations> {
  /**
   * Sends one task.
   *
   * @returns the id of the task
   * @throws UnsendableTask; NotAllSent if the task may not have been sent: `left` has the task with its id, to be sent
   * again
   */
  send(task: TaskToSend<Known>): Promise<string>;
  /**
   * Sends any number of tasks, ten per request if they fit, and reads up to 500 of them ahead. Each task gets its id
   * before it is sent.
   *
   * After the first failure no further request is made and no further task is read; requests in flight are awaited.
   * NotAllSent says which tasks were sent, and contains the other tasks with their ids. If you send those other tasks
   * again, none is registered twice.
   *
   * @returns the ids of the tasks, in order
   * @throws NotAllSent if a task may have been sent. Otherwise UnsendableTask, or an error of the iterable
   */
  sendAll(
    tasks: Iterable<TaskToSend<Known>> | AsyncIterable<TaskToSend<Known>>,
    options?: SendOptions,
  ): Promise<string[]>;
}

/** A task that the register function would refuse. No message was sent for this task. */
export class UnsendableTask extends Error {
  override readonly name = 'UnsendableTask';
  /** Position of the task in the tasks that the caller gave, from 0. */
  readonly index: number;
  constructor(index: number, reason: string) {
    super(`task ${index}: ${reason}`);
    this.index = index;
  }
}

/** A task that has an id. */
export type NamedTask<Known extends Operations> = TaskToSend<Known> & { readonly id: string };

/**
 * Gives a task an id.
 * @param newId generates the id if the task has none
 */
export const named = <Known extends Operations>(task: TaskToSend<Known>, newId: () => string): NamedTask<Known> => ({
  ...task,
  id: task.id ?? newId(),
});

/** A message for the register queue, with the id of its task. */
export interface RegisterMessage {
  readonly id: string;
  readonly body: string;
}

/**
 * Creates the register message of a task.
 *
 * @param index position of the task in the tasks that the caller gave
 * @throws UnsendableTask
 */
export const messageOf = <Known extends Operations>(task: NamedTask<Known>, index: number): RegisterMessage => {
  const { id, payload } = task;
  if (taskId(id) === undefined)
    throw new UnsendableTask(
      index,
      `the id ${JSON.stringify(id)} is invalid: use 1 to 128 characters of A-Z a-z 0-9 . _ : @ -, the first one a letter or a digit`,
    );
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > PAYLOAD_MAX_BYTES)
    throw new UnsendableTask(index, `its payload has ${bytes} bytes, more than the limit of ${PAYLOAD_MAX_BYTES}`);
  return { id, body: JSON.stringify(task) };
};
