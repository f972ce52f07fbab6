/** Who is told how a task ended, and what. Pure. */
import type { Task } from '../batching/task.ts';
import type { Operation } from '../config/resolved.ts';

/** How a task that has ended, ended. */
type Ending = 'succeeded' | 'failed';

/** The destination that is told: the task's own, or its operation's; nobody where there is none. */
export const destinationOf = (
  { callbacks }: Pick<Operation, 'callbacks'>,
  callback: string | undefined,
  status: Ending,
): string | undefined => callback ?? callbacks[status] ?? undefined;

/** An event for a destination, on its way there. */
export interface CallbackMessage {
  /** The name of a configured destination. */
  readonly to: string;
  /** A CloudEvent, as JSON text. */
  readonly event: string;
}

/** What is told of a task, if it has ended and somebody wants to know. */
export const callbackOf = (operation: Pick<Operation, 'callbacks'>, task: Task): CallbackMessage | undefined => {
  const { status } = task.state;
  if (status !== 'succeeded' && status !== 'failed') return undefined;
  const to = destinationOf(operation, task.callback, status);
  if (to === undefined) return undefined;
  const event = {
    specversion: '1.0',
    id: `${task.id}.${task.run}`,
    type: `groupage.task.${status}`,
    source: `/groupage/${task.operation}`,
    subject: task.id,
  };
  return { to, event: JSON.stringify(event) };
};
