/** What must hold of tasks that ended while they waited: expired, superseded or cancelled. */
import type { Millis, TaskId } from '../batching/ids.ts';
import { endedWaiting } from '../batching/settle.ts';
import { runNumber, type Task } from '../batching/task.ts';
import { operationFor } from '../config/resolved.ts';
import type { Evidence } from './evidence.ts';
import { demand } from './violation.ts';

/** @throws Violation */
export const checkSettled = (evidence: Evidence): void => {
  const { tables, log, cancelled } = evidence;
  checkTold(evidence);
  const tasks = [...tables.tasks.values()];
  const called = new Set<TaskId>(log.calls.flatMap(({ call }) => call.items.map(({ id }) => id)));
  for (const task of tasks.filter(endedWaiting)) {
    if (runNumber(task) === 1)
      demand(!called.has(task.id), 'nobody is called about a task that ended while it waited', task);
    const { state } = task;
    if (state.status === 'succeeded') checkSuperseded(tables.tasks, task, state.supersededBy);
    else if (state.status === 'failed' && state.error.code === 'cancelled')
      demand(cancelled.has(task.id), 'nothing is cancelled that nobody cancelled', task);
    else checkExpired(evidence, task);
  }
};

/** Of each run that ended while it waited: redriven or not, whoever wants to hear of it is told. */
const checkTold = ({ config, told, seen }: Evidence): void => {
  const known = new Set(told.map(({ to, event }) => `${to} ${(JSON.parse(event) as { readonly id: string }).id}`));
  for (const { id, run, operation, callback, state } of seen.settled) {
    const { callbacks } = operationFor(config, operation);
    const to = callback ?? (state.status === 'failed' ? callbacks.failed : callbacks.succeeded);
    demand(to === null || known.has(`${to} ${id}.${run}`), 'whoever wants to hear how a task ended is told', {
      id,
      run,
      to,
    });
  }
};

const checkSuperseded = (tasks: ReadonlyMap<TaskId, Task>, task: Task, by: TaskId | undefined): void => {
  const newer = by && tasks.get(by);
  const since = ({ redrivenAt, createdAt }: Task): Millis => redrivenAt ?? createdAt;
  const isFit = newer && newer.target === task.target && newer.coalesceKey === task.coalesceKey;
  demand(isFit !== undefined && isFit, 'a task is superseded by one of its key', { task, newer });
  // One that was redriven since is newer still, whatever the clock said of him who did it.
  const latest = newer && Math.max(since(newer), newer.createdAt);
  demand(latest !== undefined && latest >= since(task), 'a task is superseded by a newer one', { task, newer });
};

const checkExpired = ({ skew }: Evidence, task: Task): void => {
  const { state, startBy = Number.POSITIVE_INFINITY } = task;
  const at = 'finishedAt' in state ? state.finishedAt : 0;
  demand(at >= startBy - 2 * skew, 'nothing expires before its time', task);
};
