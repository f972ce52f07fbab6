/** Who is told how a task ended, and the message that brings it there. Pure. */
import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import type { Config, Operation } from '../config/resolved.ts';
import type { Millis } from '../ids.ts';
import { inKnownForm, NewerMessage, notOurs } from '../messages.ts';
import type { Task } from '../tasks/task.ts';
import { CALLBACK_PATIENCE } from '../timings.ts';
import { type Ended, eventOf } from './event.ts';

/** The destination that is told: the task's own, or its operation's; nobody where there is none. */
export const destinationOf = (
  { callbacks }: Pick<Operation, 'callbacks'>,
  callback: string | undefined,
  status: Ended['status'],
): string | undefined => callback ?? callbacks[status] ?? undefined;

/** Without destinations there are neither a callback queue nor a λ that works it off: idle, both would cost money. */
export const hasDestinations = ({ destinations }: Pick<Config, 'destinations'>): boolean =>
  Object.keys(destinations).length > 0;

/** An event for a destination, on its way there. */
export interface CallbackMessage {
  /** The name of a configured destination. */
  readonly to: string;
  /** A CloudEvent, as JSON text. */
  readonly event: string;
}

/** What is told of a task, if it has ended and somebody wants to know. */
export const callbackOf = (operation: Pick<Operation, 'callbacks'>, task: Task): CallbackMessage | undefined => {
  const { state } = task;
  if (state.status !== 'succeeded' && state.status !== 'failed') return undefined;
  const to = destinationOf(operation, task.callback, state.status);
  return to === undefined ? undefined : { to, event: eventOf(task, state) };
};

/** The event goes in as it is: as a string its result could need twice the bytes. */
export const printCallback = ({ to, event }: CallbackMessage): string =>
  `{"to":${JSON.stringify(to)},"event":${event}}`;

/** @throws UnreadableMessage, NewerMessage */
export const parseCallback = (body: string): CallbackMessage => {
  const json = parseJson(body);
  const message = inKnownForm(json.ok && isObject(json.value) ? json.value : {});
  if (typeof message.to !== 'string' || !isEvent(message.event)) throw notOurs('{to, event}', body);
  return { to: message.to, event: rawMembers(body).get('event') ?? '' };
};

const isEvent = (event: unknown): boolean =>
  isObject(event) &&
  ['id', 'source', 'type', 'time'].every((name) => typeof event[name] === 'string') &&
  String(event.source).startsWith('/groupage/') &&
  Number.isFinite(Date.parse(String(event.time))) &&
  isObject(event.data);

/** Why an event cannot go where it should. */
export const unknownDestination = ({ destinations }: Pick<Config, 'destinations'>, to: string): Problem => ({
  path: 'to',
  reason: `is no configured destination: ${JSON.stringify(to.slice(0, 100))}; configured are ${Object.keys(destinations).join(', ') || 'none'}`,
});

/** When what it tells of happened. */
export const happenedAt = ({ event }: CallbackMessage): number =>
  Date.parse((JSON.parse(event) as { readonly time: string }).time);

/** Whether an event is so old that only a person sends it again. @param body of a callback message. @throws UnreadableMessage */
export const isGivenUp = (body: string, now: Millis): boolean => {
  try {
    return happenedAt(parseCallback(body)) + CALLBACK_PATIENCE < now;
  } catch (cause) {
    // A release that can read it decides.
    if (cause instanceof NewerMessage) return false;
    throw cause;
  }
};
