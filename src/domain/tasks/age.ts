/**
 * Which of two tasks is newer, where the newest stands for all: tasks of one `coalesceKey`, and requests that one job merges.
 *
 * The order is that in which the producers sent them. When a task is delivered, registered or redriven changes nothing: a message that
 * SQS delivers an hour late stays older than one that was sent since.
 */
import type { Millis, TaskId } from '../ids.ts';
import type { NewTask } from './task.ts';

/** When a task was sent, and its version. */
export interface SentWhen {
  /** The producer's own; a task that has one is newer than any task without. */
  readonly version?: number;
  /** When SQS took the task's first message, by the clock of SQS. */
  readonly sentAt: Millis;
}

export interface Age extends SentWhen {
  readonly id: TaskId;
}

/** Tasks that were registered before their sent time was stored go by their registration. */
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

/** By version, then by sent time, then by id: a total order, so that every function chooses the same task. */
export const isNewer = (a: Age, b: Age): boolean => {
  const order = orderOf(a, b);
  return order === 0 ? a.id > b.id : order > 0;
};

/**
 * Whether one task is known to be older than another. Of two that were sent at once neither is. It is unknown where one has a version
 * and the other has none: a producer that gave up versions would otherwise be ignored for as long as the other task is remembered.
 */
export const isOlder = (a: SentWhen | undefined, b: SentWhen | undefined): boolean =>
  a !== undefined && b !== undefined && (a.version === undefined) === (b.version === undefined) && orderOf(a, b) < 0;

const orderOf = (a: SentWhen, b: SentWhen): number => (a.version ?? NONE) - (b.version ?? NONE) || a.sentAt - b.sentAt;

const NONE = -1;
