/** The members of a batch (H3), sorted from their stored tasks into open, lost and ended ones. */
import type { BatchId, TaskId } from '../ids.ts';
import { type Age, ageOf } from '../tasks/age.ts';
import {
  batchIdIn,
  hasEnded,
  type NewTask,
  type Outcome,
  type PayloadRow,
  payloadRowOf,
  runNumber,
  type Task,
} from '../tasks/task.ts';
import type { Counts } from './batch.ts';

/** A member of a batch, with its task's callback destination and fan-out item. */
export interface Member extends Pick<NewTask, 'callback' | 'fanOutItem' | 'mergeKeys'> {
  readonly id: TaskId;
  readonly age: Age;
  /** Whether an earlier run of the task has failed. Only set for tasks with a fan-out item. */
  readonly isRedriven?: true;
}

/** A member of a batch that has no result yet. */
export interface OpenTask extends Member, Pick<NewTask, 'weight'> {
  readonly payload: string;
  /** See {@link TaskResult.payloadRow}. */
  readonly payloadRow?: PayloadRow;
}

/** A member that has a result. */
export interface EndedMember extends Member {
  readonly status: Outcome['status'];
}

/** The members of a batch: open ones, ended ones, and the counts of results. */
export interface Members {
  readonly open: readonly OpenTask[];
  /** Open members whose payload row is missing. No call can contain these members. */
  readonly lost: readonly Member[];
  /** Ended members whose rows still contain this batch's id. A member that was redriven since is only in the counts. */
  readonly ended: readonly EndedMember[];
  readonly counts: Counts;
}

/** A task, and its payload if it is stored. */
export interface Loaded {
  readonly task: Task;
  readonly payload?: string;
}

/** @param stored the tasks of the batch that were found */
export const membersAmong = (stored: readonly Loaded[], batch: BatchId): Members => {
  const open = stored.filter(({ task }) => isOpenIn(task, batch));
  const ended = stored.flatMap(({ task }): EndedMember[] => {
    const { state } = task;
    return belongs(task, batch) && hasEnded(state) ? [{ ...memberOf(task), status: state.status }] : [];
  });
  const redriven = stored.filter(({ task }) => hasLeft(task, batch)).length;
  const count = (status: Outcome['status']): number => ended.filter((member) => member.status === status).length;
  return {
    open: open.flatMap(({ task, payload }): OpenTask[] =>
      payload === undefined ? [] : [{ ...memberOf(task), payload, ...weightIn(task), ...payloadRowOf(task) }],
    ),
    lost: open.filter(({ payload }) => payload === undefined).map(({ task }) => memberOf(task)),
    ended,
    counts: { succeeded: count('succeeded'), failed: count('failed') + redriven },
  };
};

export const belongs = ({ state }: Task, batch: BatchId): boolean => batchIdIn(state) === batch;

export const isOpenIn = (task: Task, batch: BatchId): boolean =>
  task.state.status === 'batched' && belongs(task, batch);

/** Whether a member has left the batch. Only a redrive removes a member, and only failed tasks can be redriven. */
export const hasLeft = (task: Task, batch: BatchId): boolean => !belongs(task, batch) && runNumber(task) > 1;

const weightIn = ({ weight }: Task): Pick<NewTask, 'weight'> => (weight === undefined ? {} : { weight });

const memberOf = (task: Task): Member => {
  const { id, callback, fanOutItem, mergeKeys } = task;
  return {
    id,
    age: ageOf(task),
    ...(callback === undefined ? {} : { callback }),
    ...(fanOutItem === undefined ? {} : { fanOutItem, ...(runNumber(task) > 1 ? { isRedriven: true as const } : {}) }),
    ...(mergeKeys === undefined ? {} : { mergeKeys }),
  };
};
