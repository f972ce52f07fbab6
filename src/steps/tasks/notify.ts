/**
 * Tell how tasks ended (N3), from what is stored: first the fan-outs whose items they are, then their
 * initiators. By whoever comes upon it, any number of times, since of two outcomes for one item the first stands, and
 * every event has one id for ever.
 */

import { callbackOf, hasDestinations } from '../../domain/callbacks/callback.ts';
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import { parseStoredItem } from '../../domain/fan-out-ids.ts';
import type { Outcome, Task } from '../../domain/tasks/task.ts';
import type { FanOutDeps } from '../deps.ts';
import { ackItems } from '../fan-outs/ack-items.ts';

/** Tells of those that have ended, if somebody wants to know. */
export const notify = async (deps: FanOutDeps, tasks: readonly Task[]): Promise<void> => {
  await ackEnded(
    deps,
    tasks.flatMap(({ fanOutItem, state: { status } }) =>
      fanOutItem !== undefined && (status === 'succeeded' || status === 'failed') ? [{ fanOutItem, status }] : [],
    ),
  );
  await callBack(deps, tasks);
};

/** Whether somebody wants to know how a task ended. */
export const needsNotification = (config: Config, task: Task): boolean => {
  const operation = operationNamed(config, task.operation);
  return task.fanOutItem !== undefined || (operation !== undefined && callbackOf(operation, task) !== undefined);
};

/** Acks the items that some ended tasks are, all in one: those of one group are written together. */
export const ackEnded = async (
  deps: FanOutDeps,
  ended: readonly (Pick<Task, 'fanOutItem'> & Pick<Outcome, 'status'>)[],
): Promise<void> => {
  const acks = ended.flatMap(({ fanOutItem, status: outcome }) => {
    const item = fanOutItem && parseStoredItem(fanOutItem);
    return item ? [{ item, outcome }] : [];
  });
  if (acks.length === 0) return;
  const { unknown } = await ackItems(deps, acks);
  const [first] = unknown;
  // Made up, or of a fan-out that was let go of: no task is held up by it.
  if (first !== undefined) deps.report({ event: 'unknown-items', items: unknown.length, first });
};

/** Tells the destinations of those that have ended. */
export const callBack = async ({ config, queues, report }: FanOutDeps, tasks: readonly Task[]): Promise<void> => {
  const messages = tasks.flatMap((task) => {
    const operation = operationNamed(config, task.operation);
    return (operation && callbackOf(operation, task)) ?? [];
  });
  if (messages.length === 0) return;
  // Tasks whose destination was taken out of the configuration, and was the last: no λ would take their messages, and a
  // batch must not wait for one for ever.
  if (hasDestinations(config)) await queues.callbacks(messages);
  else report({ event: 'untold', tasks: messages.length, destinations: [...new Set(messages.map(({ to }) => to))] });
};
