/**
 * Which of two tasks is newer, where the newest stands for all: tasks of one `coalesceKey`, and requests that one job merges.
 *
 * The order is that in which the producers sent them. When a task is delivered, registered or redriven changes nothing: a message that
 * SQS delivers an hour late stays older than one that was sent since.
 */
import type { Millis, TaskId } from './ids.ts';
import type { NewTask } from './task.ts';

export interface Age {
  /** The producer's own; a task that has one is newer than any task without. */
  readonly version?: number;
  /** When SQS took the task's first message, by the clock of SQS. */
  readonly sentAt: Millis;
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
  const [versionA, versionB] = [a.version ?? NONE, b.version ?? NONE];
  if (versionA !== versionB) return versionA > versionB;
  return a.sentAt !== b.sentAt ? a.sentAt > b.sentAt : a.id > b.id;
};

const NONE = -1;
