/** The members of a batch (rule H3), as their tasks are stored. */
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

/** A member of a batch, whom its task names to be told, and the item that it is. */
export interface Member extends Pick<NewTask, 'callback' | 'fanOutItem' | 'mergeKeys'> {
  readonly id: TaskId;
  readonly age: Age;
}

/** A member of a batch that has no result yet. */
export interface OpenTask extends Member {
  readonly payload: string;
  /** See {@link TaskResult.payloadRow}. */
  readonly payloadRow?: PayloadRow;
}

/** A member that has a result. */
export interface EndedMember extends Member {
  readonly status: Outcome['status'];
}

/** The members of a batch: those still open, those that ended, and how many ended how. */
export interface Members {
  readonly open: readonly OpenTask[];
  /** Open ones whose payload is not stored: there is nothing to send for them. */
  readonly lost: readonly Member[];
  /** Those that still show the batch: one that was redriven since is in the counts alone. */
  readonly ended: readonly EndedMember[];
  readonly counts: Counts;
}

/** A task, and its payload if there is one. */
export interface Loaded {
  readonly task: Task;
  readonly payload?: string;
}

/** @param stored what there is of the tasks of a batch */
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
      payload === undefined ? [] : [{ ...memberOf(task), payload, ...payloadRowOf(task) }],
    ),
    lost: open.filter(({ payload }) => payload === undefined).map(({ task }) => memberOf(task)),
    ended,
    counts: { succeeded: count('succeeded'), failed: count('failed') + redriven },
  };
};

export const belongs = ({ state }: Task, batch: BatchId): boolean => batchIdIn(state) === batch;

export const isOpenIn = (task: Task, batch: BatchId): boolean =>
  task.state.status === 'batched' && belongs(task, batch);

/** Whether a member left the batch: by a redrive, which only a failed one can. */
export const hasLeft = (task: Task, batch: BatchId): boolean => !belongs(task, batch) && runNumber(task) > 1;

const memberOf = (task: Task): Member => {
  const { id, callback, fanOutItem, mergeKeys } = task;
  return {
    id,
    age: ageOf(task),
    ...(callback === undefined ? {} : { callback }),
    ...(fanOutItem === undefined ? {} : { fanOutItem }),
    ...(mergeKeys === undefined ? {} : { mergeKeys }),
  };
};
