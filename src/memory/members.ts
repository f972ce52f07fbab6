/** The members of a batch in memory. */

import type { BatchId, TaskId } from '../domain/ids.ts';
import { ageOf } from '../domain/tasks/age.ts';
import { batchIdIn, payloadRowOf, runNumber, type Task } from '../domain/tasks/task.ts';
import type { EndedMember, Member, Members, OpenTask } from '../ports/tasks.ts';
import { type Lag, rowBehind, upToDate } from './remembered.ts';
import { payloadKey, type Tables } from './tables.ts';

/** A task, and its payload if there is one. */
interface Loaded {
  readonly task: Task;
  readonly payload?: string;
}

/** Those that are stored, in the order asked. Of what is behind each row has a lag of its own. */
export const loadMembers = (tables: Tables, ids: readonly TaskId[], lag: Lag = upToDate): Loaded[] =>
  ids.flatMap((id): Loaded[] => {
    const task = rowBehind(tables.tasks, id, lag());
    if (!task) return [];
    // One that is in the task's own row is as old as that.
    const payload = task.payloadApart
      ? rowBehind(tables.payloads, payloadKey(task), lag())?.text
      : payloadOf(tables, task);
    return [payload === undefined ? { task } : { task, payload }];
  });

export const membersOf = (stored: readonly Loaded[], batch: BatchId): Members => {
  const open = stored.filter(({ task }) => isOpenIn(task, batch));
  const ended = stored.flatMap(({ task }): EndedMember[] => {
    const { status } = task.state;
    const isEnded = belongs(task, batch) && (status === 'succeeded' || status === 'failed');
    return isEnded ? [{ ...memberOf(task), status }] : [];
  });
  const redriven = stored.filter(({ task }) => hasLeft(task, batch)).length;
  const count = (status: 'succeeded' | 'failed') => ended.filter((member) => member.status === status).length;
  return {
    open: open.flatMap(({ task, payload }): OpenTask[] =>
      payload === undefined ? [] : [{ ...memberOf(task), payload, ...payloadRowOf(task) }],
    ),
    lost: open.filter(({ payload }) => payload === undefined).map(({ task }) => memberOf(task)),
    ended,
    counts: { succeeded: count('succeeded'), failed: count('failed') + redriven },
  };
};

/** A task's payload, wherever it lies. */
export const payloadOf = (tables: Tables, task: Task): string | undefined =>
  (task.payloadApart ? tables.payloads.get(payloadKey(task)) : tables.payloads.get(task.id))?.text;

export const belongs = ({ state }: Task, batch: BatchId): boolean => batchIdIn(state) === batch;

const isOpenIn = (task: Task, batch: BatchId): boolean => task.state.status === 'batched' && belongs(task, batch);

/** Whether a member left the batch: by a redrive, which only a failed one can. */
export const hasLeft = (task: Task, batch: BatchId): boolean => !belongs(task, batch) && runNumber(task) > 1;

const memberOf = (task: Task): Member => ({
  id: task.id,
  age: ageOf(task),
  ...(task.callback === undefined ? {} : { callback: task.callback }),
  ...(task.fanOutItem === undefined ? {} : { fanOutItem: task.fanOutItem }),
  ...(task.mergeKeys === undefined ? {} : { mergeKeys: task.mergeKeys }),
});
