/**
 * Promises about settled tasks, which ended while they waited: expired, superseded or cancelled. Each was settled for a
 * valid reason and is not called, and its callback is sent.
 */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { ageOf, isNewer } from '../../src/domain/tasks/age.ts';
import { isSameTask, runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { endedWaiting } from '../../src/steps/tasks/settle.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence } from './evidence.ts';

/** @throws Violation */
export const checkSettled = (evidence: Evidence): void => {
  const { tables, log, cancelled } = evidence;
  checkNotified(evidence);
  checkAges(evidence);
  const tasks = [...tables.tasks.values()];
  const called = new Set<TaskId>(log.calls.flatMap(({ call }) => call.items.map(({ id }) => id)));
  for (const task of tasks.filter(endedWaiting)) {
    if (runNumber(task) === 1) demand(!called.has(task.id), 'a task that ended while it waited is not called', task);
    const { state } = task;
    if (state.status === 'succeeded') checkSuperseded(tables.tasks, task, state.supersededBy);
    else if (state.status === 'failed' && state.error.code === 'cancelled')
      demand(cancelled.has(task.id), 'only tasks that a person cancelled end as cancelled', task);
    else checkExpired(evidence, task);
  }
};

/** The callback of each settled run is sent, whether or not the task was redriven later. */
const checkNotified = ({ config, sentCallbacks, seen }: Evidence): void => {
  const known = new Set(
    sentCallbacks.map(({ to, event }) => `${to} ${(JSON.parse(event) as { readonly id: string }).id}`),
  );
  for (const { id, run, operation, callback, state } of seen.settled) {
    const { callbacks } = operationFor(config, operation);
    const to = callback ?? (state.status === 'failed' ? callbacks.failed : callbacks.succeeded);
    demand(to === null || known.has(`${to} ${id}.${run}`), "a settled task's callback is sent", {
      id,
      run,
      to,
    });
  }
};

const checkSuperseded = (tasks: ReadonlyMap<TaskId, Task>, task: Task, by: TaskId | undefined): void => {
  const newer = by && tasks.get(by);
  const isFit = newer && newer.target === task.target && newer.coalesceKey === task.coalesceKey;
  demand(isFit !== undefined && isFit, 'a task is superseded only by a task with its coalesceKey', { task, newer });
  demand(newer !== undefined && isNewer(ageOf(newer), ageOf(task)), 'a task is superseded only by a newer task', {
    task,
    newer,
  });
};

/** Ages are compared by the stored values, so the stored values must equal those of the message. */
const checkAges = ({ tables, sent, config }: Evidence): void => {
  const messages = Map.groupBy(
    sent.flatMap((message) => {
      const parsed = parseRegisterMessage(config, message);
      return parsed.ok ? [{ ...message, task: parsed.value }] : [];
    }),
    ({ task }) => task.id,
  );
  for (const task of tables.tasks.values()) {
    const own = messages.get(task.id)?.filter((message) => isSameTask(task, message.task));
    if (own === undefined || own.length === 0) continue;
    const isAsSent = own.some(
      ({ sentAt, task: { version, hasAge } }) =>
        task.version === version && task.sentAt === (hasAge ? sentAt : undefined),
    );
    demand(isAsSent, 'a task keeps the version and sending time of its message', { task, own });
  }
};

const checkExpired = ({ skew }: Evidence, task: Task): void => {
  const { state, startBy = Number.POSITIVE_INFINITY } = task;
  const at = 'finishedAt' in state ? state.finishedAt : 0;
  demand(at >= startBy - 2 * skew, 'no task expires before its deadline', task);
};
