/** Cancel a task that waits: it ends failed. One that a batch has is under way, and is left alone. */
import { operationFor } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import type { TaskId } from './ids.ts';
import { waitingRow } from './policy.ts';
import { endedWaiting, settle } from './settle.ts';
import type { Settlement, Task } from './task.ts';

type CancelDeps = Pick<Deps, 'config' | 'tasks' | 'waiting' | 'queues' | 'machine' | 'report'>;

const CANCELLED: Settlement = {
  status: 'failed',
  error: { code: 'cancelled', message: 'somebody cancelled it before a batch had it', retriable: true },
};

/** @returns the task as it is then, cancelled if it had been waiting; undefined if there is none. @throws UnknownOperation */
export const cancel = async (deps: CancelDeps, id: TaskId): Promise<Task | undefined> => {
  const task = await deps.tasks.get(id);
  if (!task) return undefined;
  operationFor(deps.config, task.operation);
  // One that was cancelled by somebody who stopped amid it is settled again: it may be untold, and its row still there.
  if (task.state.status !== 'created' && !endedWaiting(task)) return task;
  const [cancelled] = await settle(deps, task.target, [{ row: waitingRow(task), as: CANCELLED }]);
  return cancelled;
};

/** Whether a task was cancelled. */
export const isCancelled = ({ state }: Task): boolean => state.status === 'failed' && state.error.code === 'cancelled';
