/** The register message: what a producer sends, checked. */
import * as z from 'zod/mini';
import { type Config, operationNamed } from '../config/resolved.ts';
import { type TaskId, taskId } from './ids.ts';
import { isObject, parseJson, rawMembers } from './json-text.ts';
import { type Parsed, type Problem, problemsIn } from './problems.ts';
import { targetOf } from './target.ts';
import { itemBytes, type NewTask, PAYLOAD_MAX_BYTES, payloadHashOf } from './task.ts';

/** One message of the register queue. */
export interface RegisterMessage {
  /** SQS's own id of the message: the task's id if the body has none. The same at every redelivery. */
  readonly messageId: string;
  readonly body: string;
}

/** A message that goes to the rejected queue. */
export interface Refused {
  readonly message: RegisterMessage;
  readonly problems: readonly Problem[];
}

/** A task that may be registered; it gets its `createdAt` when it is. */
export type SentTask = Omit<NewTask, 'createdAt'>;

/**
 * A message that is longer is mostly space, or says things twice, since its payload may have half of that. It has to fit
 * into a message of 1 MiB once more, with an id, and where SQS wants characters escaped that were not.
 */
const REGISTER_MAX_BYTES = 500_000;

const CORRELATION_RULE = 'must be well-formed text of at most 128 characters';
const ID_RULE = 'must be a text of 1 to 128 characters of A-Z a-z 0-9 . _ : @ - and begin with a letter or a digit';

/**
 * The fields of a register message. The payload is not walked: it may be large and deep, and is handed on as text.
 */
const registerFields = z.strictObject(
  {
    operation: z.string({ error: 'must be the name of a configured operation' }),
    payload: z.custom<Record<string, unknown>>(isObject, { error: 'must be a JSON object' }),
    id: z.optional(
      z.string({ error: ID_RULE }).check(z.refine((text) => taskId(text) !== undefined, { error: ID_RULE })),
    ),
    correlationId: z.optional(
      z
        .string({ error: CORRELATION_RULE })
        .check(z.refine((text) => text.length <= 128 && text.isWellFormed(), { error: CORRELATION_RULE })),
    ),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be a JSON object') },
);

/** Checks one message against the configuration. Every problem is named, not only the first. */
export const parseRegisterMessage = (config: Config, message: RegisterMessage): Parsed<SentTask> => {
  const bytes = bytesOf(message.body);
  if (bytes > REGISTER_MAX_BYTES) return { ok: false, problems: [messageTooLarge(bytes)] };
  const json = parseJson(message.body);
  if (!json.ok) return json;
  const fields = registerFields.safeParse(json.value);
  if (!fields.success)
    return {
      ok: false,
      problems: [...problemsIn(fields.error, 'a register message'), ...unknownBeside(config, json.value)],
    };
  const { operation: name, payload, id: given, correlationId } = fields.data;
  const id = (given ?? message.messageId) as TaskId;
  const raw = rawMembers(message.body).get('payload') ?? '{}';
  const operation = operationNamed(config, name);
  const target = operation ? targetOf(operation, payload, id) : [unknownOperation(config, name)];
  const problems = [...(typeof target === 'string' ? [] : target), ...tooLarge(id, raw, operation?.batch.maxBytes)];
  if (!operation || typeof target !== 'string' || problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    value: {
      id,
      operation: operation.operation,
      target,
      payload: raw,
      payloadHash: payloadHashOf(raw),
      bytes: itemBytes(id, raw),
      ...(correlationId === undefined ? {} : { correlationId }),
    },
  };
};

/** The operation of a message whose fields are wrong, so that this problem is named with the others. */
const unknownBeside = (config: Config, value: unknown): Problem[] =>
  isObject(value) && typeof value.operation === 'string' && !operationNamed(config, value.operation)
    ? [unknownOperation(config, value.operation)]
    : [];

const unknownOperation = (config: Config, name: string): Problem => {
  const names = Object.keys(config.operations);
  const more = names.length > OPERATIONS_SHOWN ? ` and ${names.length - OPERATIONS_SHOWN} more` : '';
  return {
    path: 'operation',
    reason: `is unknown: ${JSON.stringify(name.slice(0, 100))}; configured are ${names.slice(0, OPERATIONS_SHOWN).join(', ')}${more}`,
  };
};

/** A reason is short: there may be a thousand of them in one answer. */
const OPERATIONS_SHOWN = 20;

const messageTooLarge = (bytes: number): Problem => ({
  path: '',
  reason: `has ${bytes} bytes; a message may have ${REGISTER_MAX_BYTES}, its payload ${PAYLOAD_MAX_BYTES} of them: store it elsewhere and send a reference`,
});

const tooLarge = (id: TaskId, raw: string, maxBytes = Number.POSITIVE_INFINITY): Problem[] => {
  const bytes = Buffer.byteLength(raw);
  const fault = (reason: string): Problem[] => [{ path: 'payload', reason: `has ${bytes} bytes; ${reason}` }];
  if (bytes > PAYLOAD_MAX_BYTES)
    return fault(`at most ${PAYLOAD_MAX_BYTES} are taken: store it elsewhere and send a reference`);
  return itemBytes(id, raw) > maxBytes
    ? fault(`a batch of this operation holds at most ${maxBytes} (batch.maxBytes)`)
    : [];
};

/**
 * A register body that names its task. One without an `id` is named after its SQS message, and a message that is sent
 * again is a new one: without this it would become a second task.
 */
export const withId = (body: string, messageId: string): string => {
  const json = parseJson(body);
  // What is no object is left as it is: register will refuse it and say so.
  if (!json.ok || !isObject(json.value) || Object.hasOwn(json.value, 'id')) return body;
  // So is a redrive that names no task: named after its message it would be about another one.
  if (asksForRun(json.value)) return body;
  const rest = body.slice(body.indexOf('{') + 1);
  return `{"id":${JSON.stringify(messageId)}${Object.keys(json.value).length > 0 ? ',' : ''}${rest}`;
};

/** Whether a body asks for another run of a task instead of registering one. */
export const asksForRun = (body: object): boolean => Object.hasOwn(body, 'run') && !Object.hasOwn(body, 'operation');

/** What {@link withId} may have written. */
const ID_IN_FRONT = /^\{"id":"[^"\\]{1,128}",/;

/** Of a message, without the id in front where that decides: one that was not too large stays so when it is sent on. */
const bytesOf = (body: string): number => {
  const bytes = Buffer.byteLength(body);
  return bytes <= REGISTER_MAX_BYTES ? bytes : Buffer.byteLength(body.replace(ID_IN_FRONT, '{'));
};
