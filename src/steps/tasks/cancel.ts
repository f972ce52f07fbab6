/** Cancel a task that waits: it ends failed. One that a batch has is under way, and is left alone. */

import { waitingRow } from '../../domain/batches/policy.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import type { TaskId } from '../../domain/ids.ts';
import type { Settlement, Task } from '../../domain/tasks/task.ts';
import type { Deps } from '../deps.ts';
import { endedWaiting, settle } from './settle.ts';

type CancelDeps = Pick<Deps, 'config' | 'tasks' | 'waiting' | 'fanOuts' | 'queues' | 'machine' | 'report'>;

/** A task that was to be cancelled, and what became of that. */
export interface Cancelled {
  readonly task: Task;
  /** `registering`: it has no waiting row yet, so its payload may not be stored; it can be cancelled in a moment. */
  readonly is: 'cancelled' | 'under-way' | 'registering';
}

const CANCELLED: Settlement = {
  status: 'failed',
  error: { code: 'cancelled', message: 'somebody cancelled it before a batch had it', retriable: true },
};

/** @returns undefined if there is no such task. @throws UnknownOperation */
export const cancel = async (deps: CancelDeps, id: TaskId): Promise<Cancelled | undefined> => {
  const task = await deps.tasks.get(id);
  if (!task) return undefined;
  operationFor(deps.config, task.operation);
  // One that was cancelled by somebody who stopped amid it is settled again: it may be untold, and its row still there.
  if (task.state.status !== 'created' && !endedWaiting(task)) return { task, is: 'under-way' };
  const row = waitingRow(task);
  if (task.state.status === 'created' && !(await deps.waiting.has(task.target, row.entry)))
    return { task, is: 'registering' };
  const [stored = task] = await settle(deps, task.target, [{ row, as: CANCELLED }]);
  return { task: stored, is: isCancelled(stored) ? 'cancelled' : 'under-way' };
};

const isCancelled = ({ state }: Task): boolean => state.status === 'failed' && state.error.code === 'cancelled';
