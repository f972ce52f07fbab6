/**
 * Deliver: events go to their destinations, and nothing else in Groupage talks to one. One that fails comes back with its
 * message: what a destination does changes no task's result, and holds no batch up.
 */
import type { Deps } from '../batching/deps.ts';
import { NewerMessage } from '../batching/messages.ts';
import { type Problem, reasonOf } from '../batching/problems.ts';
import { type Destination, EVENT_MAX_BYTES } from '../config/endpoints.ts';
import { type CallbackMessage, parseCallback, unknownDestination } from './callback.ts';
import { type LeavingEvent, leaving } from './event.ts';

/**
 * Brings an event to one destination. Rejects when it did not come there, or may not have, with a reason that quotes
 * nothing of what the destination said.
 */
export type Way = (event: LeavingEvent) => Promise<void>;

export interface DeliverDeps extends Pick<Deps, 'config' | 'queues' | 'machine' | 'report'> {
  /** The name of this deployment. */
  readonly stack: string;
  readonly wayTo: (destination: Destination) => Way;
}

/** A message of the callback queue. */
interface Message {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Delivers the events of one invocation.
 *
 * @param onFailure is told of each message that failed.
 * @returns those that failed and have to come back.
 */
export const deliverAll = async <M extends Message>(
  deps: DeliverDeps,
  messages: readonly M[],
  onFailure: (message: M, cause: unknown) => void,
): Promise<readonly M[]> => {
  const delivered = new Map<string, number>();
  const one = async (message: M): Promise<readonly M[]> => {
    try {
      const to = await deliver(deps, message);
      if (to !== undefined) delivered.set(to, (delivered.get(to) ?? 0) + 1);
      return [];
    } catch (cause) {
      onFailure(message, cause);
      return [message];
    }
  };
  const failed = await Promise.all(messages.map(one));
  for (const [destination, events] of delivered) deps.report({ event: 'delivered', destination, events });
  return failed.flat();
};

/** @returns where the event went; undefined for one that was refused. */
const deliver = async (deps: DeliverDeps, { messageId, body }: Message): Promise<string | undefined> => {
  const found = destinationIn(deps, body);
  if ('problem' in found) {
    await deps.queues.reject([
      { messageId, body, problems: [found.problem], at: deps.machine.now(), queue: 'callback' },
    ]);
    deps.report({ event: 'rejected', messages: 1, reasons: [found.problem.reason] });
    return undefined;
  }
  const { to, event, destination } = found;
  try {
    await deps.wayTo(destination)(leaving(event, deps.stack, EVENT_MAX_BYTES[destination.kind]));
  } catch (cause) {
    deps.report({ event: 'not-delivered', destination: to, cause: reasonOf(cause) });
    throw cause;
  }
  return to;
};

/** Where an event is to go, or why it cannot go anywhere. */
type Found = { readonly problem: Problem } | (CallbackMessage & { readonly destination: Destination });

const destinationIn = ({ config }: DeliverDeps, body: string): Found => {
  let message: CallbackMessage;
  try {
    message = parseCallback(body);
  } catch (cause) {
    if (cause instanceof NewerMessage) throw cause;
    return { problem: { path: '', reason: `callback queue: ${reasonOf(cause)}` } };
  }
  const destination = Object.hasOwn(config.destinations, message.to) ? config.destinations[message.to] : undefined;
  return destination ? { ...message, destination } : { problem: unknownDestination(config, message.to) };
};
