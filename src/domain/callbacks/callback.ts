/**
 * Which destination receives the event of a task's end, and the message that carries the event to the callback
 * function. Pure.
 */
import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import type { Config, Operation } from '../config/resolved.ts';
import type { Millis } from '../ids.ts';
import { inKnownForm, NewerMessage, notOurs } from '../messages.ts';
import type { Task } from '../tasks/task.ts';
import { CALLBACK_PATIENCE } from '../timings.ts';
import { type Ended, eventOf } from './event.ts';

/**
 * The destination of a task's event: the task's own destination, otherwise the destination of its operation. Undefined
 * if neither is set.
 */
export const destinationOf = (
  { callbacks }: Pick<Operation, 'callbacks'>,
  callback: string | undefined,
  status: Ended['status'],
): string | undefined => callback ?? callbacks[status] ?? undefined;

/**
 * Whether any destination is configured. Without a destination, neither a callback queue nor its function is deployed:
 * both cost money even if idle.
 */
export const hasDestinations = ({ destinations }: Pick<Config, 'destinations'>): boolean =>
  Object.keys(destinations).length > 0;

/** An event on its way to a destination. */
export interface CallbackMessage {
  /** The name of a configured destination. */
  readonly to: string;
  /** A CloudEvent, as JSON text. */
  readonly event: string;
}

/**
 * The event of a task's end for its destination; undefined if the task has not ended or no destination is configured
 * for it.
 */
export const callbackOf = (operation: Pick<Operation, 'callbacks'>, task: Task): CallbackMessage | undefined => {
  const { state } = task;
  if (state.status !== 'succeeded' && state.status !== 'failed') return undefined;
  const to = destinationOf(operation, task.callback, state.status);
  return to === undefined ? undefined : { to, event: eventOf(task, state) };
};

/** The event is inserted as JSON, not as a string: escaping could double the size of its result. */
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

/** The problem of an event whose destination is not configured. */
export const unknownDestination = ({ destinations }: Pick<Config, 'destinations'>, to: string): Problem => ({
  path: 'to',
  reason: `is no configured destination: ${JSON.stringify(to.slice(0, 100))}; configured are ${Object.keys(destinations).join(', ') || 'none'}`,
});

/** The time of the task's, fan-out's or list's end that the event reports. */
export const happenedAt = ({ event }: CallbackMessage): number =>
  Date.parse((JSON.parse(event) as { readonly time: string }).time);

/**
 * Whether an event is too old for another delivery, so that only a person sends it again. @param body of a callback
 * message. @throws UnreadableMessage
 */
export const isGivenUp = (body: string, now: Millis): boolean => {
  try {
    return happenedAt(parseCallback(body)) + CALLBACK_PATIENCE < now;
  } catch (cause) {
    // This release cannot read the message, so the release that can read it decides.
    if (cause instanceof NewerMessage) return false;
    throw cause;
  }
};
