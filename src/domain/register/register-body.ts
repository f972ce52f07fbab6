/** The body of a register message as text: how large it may be, what it asks for, and which id it gets if it has none. */
import { isObject, parseJson } from '../../util/json-text.ts';
import type { Parsed } from '../../util/problems.ts';
import { PAYLOAD_MAX_BYTES } from '../tasks/task.ts';

/**
 * A message that is longer is mostly space, or says things twice, since its payload may have half of that. It has to fit
 * into a message of 1 MiB once more, with an id, and where SQS wants characters escaped that were not.
 */
export const REGISTER_MAX_BYTES = 500_000;

/** What {@link withId} may have written. */
const ID_IN_FRONT = /^\{"id":"[^"\\]{1,128}",/;

/** Of a message, without the id in front where that decides: one that was not too large stays so when it is sent on. */
const bytesOf = (body: string): number => {
  const bytes = Buffer.byteLength(body);
  return bytes <= REGISTER_MAX_BYTES ? bytes : Buffer.byteLength(body.replace(ID_IN_FRONT, '{'));
};

/** The value of a body that is not too large. */
export const jsonIn = (body: string): Parsed<unknown> => {
  const bytes = bytesOf(body);
  if (bytes <= REGISTER_MAX_BYTES) return parseJson(body);
  const reason = `has ${bytes} bytes; a message may have ${REGISTER_MAX_BYTES}, its payload ${PAYLOAD_MAX_BYTES} of them: store it elsewhere and send a reference`;
  return { ok: false, problems: [{ path: '', reason }] };
};

/** What a body asks for: a new task, another run of a task, or tasks from the jobs of a deferred list. */
export const kindOf = (json: unknown): 'task' | 'redrive' | 'trigger' => {
  if (!isObject(json) || Object.hasOwn(json, 'operation')) return 'task';
  if (Object.hasOwn(json, 'run')) return 'redrive';
  return Object.hasOwn(json, 'trigger') && Object.hasOwn(json, 'list') ? 'trigger' : 'task';
};

/**
 * A register body that names its task. One without an `id` is named after its SQS message, and a message that is sent
 * again is a new one: without this it would become a second task.
 */
export const withId = (body: string, messageId: string): string => {
  const json = parseJson(body);
  // What is no object is left as it is: register will refuse it and say so.
  if (!json.ok || !isObject(json.value) || Object.hasOwn(json.value, 'id')) return body;
  // So is a redrive that names no task: named after its message it would be about another one. A trigger has its list's
  // name.
  if (kindOf(json.value) !== 'task') return body;
  const rest = body.slice(body.indexOf('{') + 1);
  return `{"id":${JSON.stringify(messageId)}${Object.keys(json.value).length > 0 ? ',' : ''}${rest}`;
};
