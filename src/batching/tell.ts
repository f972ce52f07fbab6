/**
 * Tell initiators how tasks ended (section 5, *tell*), from what is stored: by whoever comes upon it, any number of times,
 * since every event has one id for ever.
 */
import { callbackOf, hasDestinations } from '../callbacks/callback.ts';
import { operationNamed } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import type { Task } from './task.ts';

type TellDeps = Pick<Deps, 'config' | 'queues' | 'report'>;

/** Tells of those that have ended, if somebody wants to know. */
export const tell = async ({ config, queues, report }: TellDeps, tasks: readonly Task[]): Promise<void> => {
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
