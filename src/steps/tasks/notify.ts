/**
 * Notify (N3): acks the fan-out items of tasks that ended, then sends their callbacks, both from the stored outcome. A
 * repeat is harmless, because the first outcome of an item stands and each event keeps its id. So every function that
 * finds an ended task notifies for it again, because the function that ended the task may have died before it notified.
 */

import { callbackOf, hasDestinations } from '../../domain/callbacks/callback.ts';
import { type Config, operationNamed } from '../../domain/config/resolved.ts';
import { isNumbered, parseStoredItem } from '../../domain/fan-out-ids.ts';
import { type Outcome, runNumber, type Task } from '../../domain/tasks/task.ts';
import type { FanOutDeps } from '../deps.ts';
import { ackItems } from '../fan-outs/ack-items.ts';

/** Notifies the fan-outs and callback destinations of the tasks that have ended. */
export const notify = async (deps: FanOutDeps, tasks: readonly Task[]): Promise<void> => {
  await ackEnded(
    deps,
    tasks.flatMap((task) => {
      const { status } = task.state;
      const isRedriven = runNumber(task) > 1;
      return status === 'succeeded' || status === 'failed' ? [{ ...task, status, isRedriven }] : [];
    }),
  );
  await callBack(deps, tasks);
};

/** Whether a task has a fan-out item or a callback. */
export const needsNotification = (config: Config, task: Task): boolean => {
  const operation = operationNamed(config, task.operation);
  return task.fanOutItem !== undefined || (operation !== undefined && callbackOf(operation, task) !== undefined);
};

/** The end of a task, as its fan-out item needs it. */
export interface ItemEnd extends Pick<Task, 'fanOutItem'>, Pick<Outcome, 'status'> {
  /** Whether this was not the first run of the task. */
  readonly isRedriven?: boolean;
}

/**
 * Acks the fan-out items of all these tasks together, so that the items of one group are written in one request. If a
 * redriven task has succeeded, its item succeeds although the first run has failed (T11). This does not apply to jobs of
 * deferred lists, whose first result stands.
 */
export const ackEnded = async (deps: FanOutDeps, ended: readonly ItemEnd[]): Promise<void> => {
  const acks = ended.flatMap(({ fanOutItem, status: outcome, isRedriven = false }) => {
    const item = fanOutItem && parseStoredItem(fanOutItem);
    return item ? [{ item, outcome, corrects: isRedriven && outcome === 'succeeded' && !isNumbered(item.fanOut) }] : [];
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
