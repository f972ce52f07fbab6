/**
 * Notify (N3): acks the fan-out items of tasks that ended, then sends their callbacks, both from the stored outcome. A
 * repeat is harmless, because the first outcome of an item stands and each event keeps its id. So every function that
 * finds an ended task notifies for it again, because the function that ended the task may have died before it notified.
 */

import { callbackOf, hasDestinations } from '../../domain/callbacks/callback.ts';
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import { parseStoredItem } from '../../domain/fan-out-ids.ts';
import type { Outcome, Task } from '../../domain/tasks/task.ts';
import type { FanOutDeps } from '../deps.ts';
import { ackItems } from '../fan-outs/ack-items.ts';

/** Notifies the fan-outs and callback destinations of the tasks that have ended. */
export const notify = async (deps: FanOutDeps, tasks: readonly Task[]): Promise<void> => {
  await ackEnded(
    deps,
    tasks.flatMap(({ fanOutItem, state: { status } }) =>
      fanOutItem !== undefined && (status === 'succeeded' || status === 'failed') ? [{ fanOutItem, status }] : [],
    ),
  );
  await callBack(deps, tasks);
};

/** Whether a task has a fan-out item or a callback. */
export const needsNotification = (config: Config, task: Task): boolean => {
  const operation = operationNamed(config, task.operation);
  return task.fanOutItem !== undefined || (operation !== undefined && callbackOf(operation, task) !== undefined);
};

/** Acks the fan-out items of all these tasks together, so that the items of one group are written in one request. */
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
  // The items do not exist, or their fan-outs were deleted. Report this and continue, because the tasks themselves are
  // not affected.
  if (first !== undefined) deps.report({ event: 'unknown-items', items: unknown.length, first });
};

/** Sends the callbacks of tasks that have ended. */
export const callBack = async ({ config, queues, report }: FanOutDeps, tasks: readonly Task[]): Promise<void> => {
  const messages = tasks.flatMap((task) => {
    const operation = operationNamed(config, task.operation);
    return (operation && callbackOf(operation, task)) ?? [];
  });
  if (messages.length === 0) return;
  // If the configuration has no destination any more, no function reads the callback queue and the queue may not exist.
  // So send no callbacks, because otherwise the batch would fail to send them again and again.
  if (hasDestinations(config)) await queues.callbacks(messages);
  else report({ event: 'untold', tasks: messages.length, destinations: [...new Set(messages.map(({ to }) => to))] });
};
