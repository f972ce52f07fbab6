/** What a producer's client takes, and what it makes of it, however that is sent. */

import type { Duration } from '../domain/config/duration.ts';
import { taskId } from '../domain/ids.ts';
import { PAYLOAD_MAX_BYTES } from '../domain/tasks/task.ts';

/** Operations and the type of their payloads, e.g. `{ 'distribute-parcels': Parcel }`. */
export type Operations = Readonly<Record<string, object>>;

/** A task to register. */
export type TaskToSend<Known extends Operations> = {
  [Operation in keyof Known & string]: {
    readonly operation: Operation;
    readonly payload: Known[Operation];
    /** Names the task: a second task with this id is the same one. Made up if absent. */
    readonly id?: string;
    /** Shown with the task, for who looks for it. At most 128 characters. */
    readonly correlationId?: string;
    /** 0 to 9, the most urgent. Urgent ones go first. */
    readonly priority?: number;
    /** What it counts of its batch's weight (tokens, rows, euros): above 0, 1 if absent. */
    readonly weight?: number;
    /** A newer waiting task of its Target with the same key replaces it; it has then succeeded. 1 to 128 characters. */
    readonly coalesceKey?: string;
    /**
     * Which state of its subject the task brings: a whole number, such as a row's version or its time in milliseconds. Where
     * `coalesceKey` or `merge` choose the newest, the highest version is it; without versions, the task that was sent last.
     */
    readonly version?: number;
    /** It fails if no batch has it so long after its registration: `"1s"` to `"30d"`. */
    readonly expiresIn?: Duration;
    /** The configured destination that is told how it ended, instead of its operation's. */
    readonly callback?: string;
    /** The item of a fan-out (`fanOutId:groupId:index`) that is done when the task has ended, however that was. */
    readonly fanOutItem?: string;
  };
}[keyof Known & string];

export interface SendOptions {
  /** Is told how many tasks have been sent so far. */
  readonly onProgress?: (sent: number) => void;
}

export interface Client<Known extends Operations> {
  /**
   * Sends one task.
   *
   * @returns its id.
   * @throws UnsendableTask; NotAllSent where it failed: the task is in `left`, with its id, to be sent again.
   */
  send(task: TaskToSend<Known>): Promise<string>;
  /**
   * Sends any number of tasks, ten to a request where they fit, and reads up to 500 of them ahead. Each gets its id before
   * it is sent.
   *
   * After the first failure no further request is made and no further task is read; what is under way is waited for.
   * NotAllSent says which tasks were sent, and has the others with their ids: sent again, none is registered twice.
   *
   * @returns their ids, in order.
   * @throws NotAllSent once a task was sent, or may have been. Before that: UnsendableTask, or what the iterable throws.
   */
  sendAll(
    tasks: Iterable<TaskToSend<Known>> | AsyncIterable<TaskToSend<Known>>,
    options?: SendOptions,
  ): Promise<string[]>;
}

/** A task that would be refused: nothing was sent for it. */
export class UnsendableTask extends Error {
  override readonly name = 'UnsendableTask';
  /** Its position among the tasks given. */
  readonly index: number;
  constructor(index: number, reason: string) {
    super(`task ${index}: ${reason}`);
    this.index = index;
  }
}

/** A task that has its id. */
export type NamedTask<Known extends Operations> = TaskToSend<Known> & { readonly id: string };

/** @param newId names it where it has no id */
export const named = <Known extends Operations>(task: TaskToSend<Known>, newId: () => string): NamedTask<Known> => ({
  ...task,
  id: task.id ?? newId(),
});

export interface RegisterMessage {
  readonly id: string;
  readonly body: string;
}

/**
 * A task's register message.
 *
 * @param index its position among those sent @throws UnsendableTask
 */
export const messageOf = <Known extends Operations>(task: NamedTask<Known>, index: number): RegisterMessage => {
  const { id, payload } = task;
  if (taskId(id) === undefined) throw new UnsendableTask(index, `the id ${JSON.stringify(id)} is not allowed`);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > PAYLOAD_MAX_BYTES)
    throw new UnsendableTask(index, `its payload has ${bytes} bytes, at most ${PAYLOAD_MAX_BYTES} are taken`);
  return { id, body: JSON.stringify(task) };
};
