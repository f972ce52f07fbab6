/**
 * Tell initiators how tasks ended (section 5, *tell*), from what is stored: by whoever comes upon it, any number of times,
 * since every event has one id for ever.
 */
import { callbackOf } from '../callbacks/callback.ts';
import { operationNamed } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import type { Task } from './task.ts';

type TellDeps = Pick<Deps, 'config' | 'queues'>;

/** Tells of those that have ended, if somebody wants to know. */
export const tell = async ({ config, queues }: TellDeps, tasks: readonly Task[]): Promise<void> => {
  const messages = tasks.flatMap((task) => {
    const operation = operationNamed(config, task.operation);
    return (operation && callbackOf(operation, task)) ?? [];
  });
  if (messages.length > 0) await queues.callbacks(messages);
};
