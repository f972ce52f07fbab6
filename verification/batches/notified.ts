/**
 * Promises about callbacks. For each ended task with a destination, a callback reports the task's result. All callbacks
 * of a run have the same event id. No other callback is sent.
 */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence } from './evidence.ts';
import { isOfFanOut } from './fanned-out.ts';

/** @throws Violation */
export const checkNotified = ({ config, tables, sentCallbacks, outlived }: Evidence): void => {
  const eventIds = new Map<string, Set<string>>();
  for (const { to, event } of sentCallbacks) {
    const { id, type, subject } = JSON.parse(event) as Record<'id' | 'type' | 'subject', string>;
    if (isOfFanOut({ type })) continue;
    const task = tables.tasks.get(subject as TaskId);
    demand(task !== undefined && type === endOf(task, id), "a task's callback reports how the task ended", {
      event,
      task,
    });
    demand(
      task !== undefined && to === destinationOf(config, task, type),
      "a task's callback goes to its destination",
      event,
    );
    eventIds.set(subject, (eventIds.get(subject) ?? new Set()).add(id));
  }
  for (const task of tables.tasks.values()) {
    const { status } = task.state;
    const isWanted = destinationOf(config, task, `groupage.task.${status}`) !== undefined;
    const batch = 'batchId' in task.state ? task.state.batchId : undefined;
    if (batch !== undefined && !outlived.has(batch) && status !== 'batched')
      demand(
        !isWanted || eventIds.get(task.id)?.has(`${task.id}.${task.run}`) === true,
        'a task with a destination sends its callback',
        task,
      );
    const runs = eventIds.get(task.id)?.size ?? 0;
    demand(runs <= runNumber(task), 'the callbacks of one run have one event id', {
      task,
      eventIds: [...(eventIds.get(task.id) ?? [])],
    });
  }
};

/** If the event is about an earlier run, that run has failed, because only failed runs are followed by another run. */
const endOf = (task: Task, eventId: string): string => {
  const isLast = eventId === `${task.id}.${task.run}`;
  return `groupage.task.${isLast ? task.state.status : 'failed'}`;
};

const destinationOf = (config: Evidence['config'], task: Task, type: string): string | undefined => {
  const { failed, succeeded } = operationFor(config, task.operation).callbacks;
  return task.callback ?? (type.endsWith('.failed') ? failed : succeeded) ?? undefined;
};
