/** The body of a register message as text: its size limit, its kind, and the id that a body without one gets. */
import { isObject, parseJson } from '../../util/json-text.ts';
import type { Parsed } from '../../util/problems.ts';
import { PAYLOAD_MAX_BYTES } from '../tasks/task.ts';

/**
 * Most bytes of a body. A payload may have half as many, so a longer body consists almost only of whitespace or
 * repetitions. If a message is sent again, its body gets an id and characters that are escaped for SQS, and must still
 * fit into an SQS message of 1 MiB.
 */
export const REGISTER_MAX_BYTES = 500_000;

/** The beginning that {@link withId} writes. */
const ID_IN_FRONT = /^\{"id":"[^"\\]{1,128}",/;

/**
 * The size of a body. If the body is too large only because of an id at its front, the id is not counted. So a body
 * that was accepted stays acceptable after {@link withId} has added an id.
 */
const bytesOf = (body: string): number => {
  const bytes = Buffer.byteLength(body);
  return bytes <= REGISTER_MAX_BYTES ? bytes : Buffer.byteLength(body.replace(ID_IN_FRONT, '{'));
};

/** The value of a body within the size limit. */
export const jsonIn = (body: string): Parsed<unknown> => {
  const bytes = bytesOf(body);
  if (bytes <= REGISTER_MAX_BYTES) return parseJson(body);
  const reason = `has ${bytes} bytes; a message may have at most ${REGISTER_MAX_BYTES}, and its payload at most ${PAYLOAD_MAX_BYTES}: store the payload elsewhere and send a reference`;
  return { ok: false, problems: [{ path: '', reason }] };
};

/** What a body asks for: a new task, another run of a task, or tasks from the jobs of a deferred list. */
export const kindOf = (json: unknown): 'task' | 'redrive' | 'trigger' => {
  if (!isObject(json) || Object.hasOwn(json, 'operation')) return 'task';
  if (Object.hasOwn(json, 'run')) return 'redrive';
  return Object.hasOwn(json, 'trigger') && Object.hasOwn(json, 'list') ? 'trigger' : 'task';
};

/**
 * A register body with an id for its task. A task without an `id` gets its SQS message's id. A message that is sent
 * again gets a new id from SQS, so without an `id` in its body it would become a second task.
 */
export const withId = (body: string, messageId: string): string => {
  const json = parseJson(body);
  // Keep anything but an object unchanged: the register function refuses it with a reason.
  if (!json.ok || !isObject(json.value) || Object.hasOwn(json.value, 'id')) return body;
  // Keep a redrive without an id unchanged: with the message's id it would name another task. A trigger names its list
  // instead.
  if (kindOf(json.value) !== 'task') return body;
  const rest = body.slice(body.indexOf('{') + 1);
  return `{"id":${JSON.stringify(messageId)}${Object.keys(json.value).length > 0 ? ',' : ''}${rest}`;
};
