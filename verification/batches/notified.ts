/** What initiators must have heard in the end: how each task ended, under one name, and nothing else. */

import { operationFor } from '../../src/domain/config/resolved.ts';
import type { TaskId } from '../../src/domain/ids.ts';
import { runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence } from './evidence.ts';
import { isOfFanOut } from './fanned-out.ts';

/** @throws Violation */
export const checkNotified = ({ config, tables, sentCallbacks, outlived }: Evidence): void => {
  const heard = new Map<string, Set<string>>();
  for (const { to, event } of sentCallbacks) {
    const { id, type, subject } = JSON.parse(event) as Record<'id' | 'type' | 'subject', string>;
    if (isOfFanOut({ type })) continue;
    const task = tables.tasks.get(subject as TaskId);
    demand(task !== undefined && type === endOf(task, id), 'who is told of a task is told how it ended', {
      event,
      task,
    });
    demand(task !== undefined && to === listenerOf(config, task, type), 'those are told who want to know', event);
    heard.set(subject, (heard.get(subject) ?? new Set()).add(id));
  }
  for (const task of tables.tasks.values()) {
    const { status } = task.state;
    const isWanted = listenerOf(config, task, `groupage.task.${status}`) !== undefined;
    const batch = 'batchId' in task.state ? task.state.batchId : undefined;
    if (batch !== undefined && !outlived.has(batch) && status !== 'batched')
      demand(
        !isWanted || heard.get(task.id)?.has(`${task.id}.${task.run}`) === true,
        'who wants to know is told',
        task,
      );
    const runs = heard.get(task.id)?.size ?? 0;
    demand(runs <= runNumber(task), 'what is told of a run has one id', {
      task,
      heard: [...(heard.get(task.id) ?? [])],
    });
  }
};

/** A run that was followed by another one had failed. */
const endOf = (task: Task, eventId: string): string => {
  const isLast = eventId === `${task.id}.${task.run}`;
  return `groupage.task.${isLast ? task.state.status : 'failed'}`;
};

const listenerOf = (config: Evidence['config'], task: Task, type: string): string | undefined => {
  const { failed, succeeded } = operationFor(config, task.operation).callbacks;
  return task.callback ?? (type.endsWith('.failed') ? failed : succeeded) ?? undefined;
};
