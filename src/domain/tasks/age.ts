/**
 * Which of two tasks is newer. The newest of several tasks with one `coalesceKey` replaces the other tasks. Of the
 * requests that one job merges, the newest decides the text of an input. A task is newer if its producer sent it later.
 * The times of delivery, registration or redrive do not matter: a message that SQS delivers an hour late stays older
 * than a message that was sent after it.
 */
import type { Millis, TaskId } from '../ids.ts';
import type { NewTask } from './task.ts';

/** When a task was sent, and its version. */
export interface SentWhen {
  /** The producer's version. A task with a version is newer than any task without one. */
  readonly version?: number;
  /** When SQS accepted the task's first message, by the clock of SQS. */
  readonly sentAt: Millis;
}

export interface Age extends SentWhen {
  readonly id: TaskId;
}

/** The age of a task. For a task of a release that did not store `sentAt`, the registration time counts instead. */
export const ageOf = ({
  id,
  version,
  sentAt,
  createdAt,
}: Pick<NewTask, 'id' | 'version' | 'sentAt' | 'createdAt'>): Age => ({
  id,
  sentAt: sentAt ?? createdAt,
  ...(version === undefined ? {} : { version }),
});

/** Compares by version, then by sent time, then by id. The order is total, so every function chooses the same task. */
export const isNewer = (a: Age, b: Age): boolean => {
  const order = orderOf(a, b);
  return order === 0 ? a.id > b.id : order > 0;
};

/**
 * Whether task `a` is known to be older than task `b`. Of two tasks sent at the same time, neither is older. If only
 * one of the tasks has a version, the order is unknown: the tasks of a producer that stops sending versions would
 * otherwise be ignored for as long as the other task is stored.
 */
export const isOlder = (a: SentWhen | undefined, b: SentWhen | undefined): boolean =>
  a !== undefined && b !== undefined && (a.version === undefined) === (b.version === undefined) && orderOf(a, b) < 0;

const orderOf = (a: SentWhen, b: SentWhen): number => (a.version ?? NONE) - (b.version ?? NONE) || a.sentAt - b.sentAt;

const NONE = -1;
