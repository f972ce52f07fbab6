/** The register message: what a producer sends, checked. */
import * as z from 'zod/mini';
import { isObject, parseJson, rawMembers } from '../../util/json-text.ts';
import { isNumberWithin, isTextWithin, type NumberLimits, type TextLimits } from '../../util/limits.ts';
import { type Parsed, type Problem, problemsIn } from '../../util/problems.ts';
import { DURATION_PATTERN, parseDuration } from '../config/duration.ts';
import type { BatchPolicy } from '../config/policies.ts';
import { type Config, type Operation, operationNamed } from '../config/resolved.ts';
import { ITEM_ID_RULE, ITEM_PATTERN, type ItemId } from '../fan-out-ids.ts';
import { type Millis, OPERATION_NAME_PATTERN, TASK_ID_PATTERN, type TaskId } from '../ids.ts';
import { keysIn } from '../merging/inputs.ts';
import { targetOf } from '../target.ts';
import { firstRun, itemBytes, type NewTask, PAYLOAD_MAX_BYTES, payloadHashOf } from '../tasks/task.ts';
import { MINUTE, SECOND } from '../timings.ts';
import { asksForJobs } from './trigger-message.ts';

/** One message of the register queue. */
export interface RegisterMessage {
  /** SQS's own id of the message: the task's id if the body has none. The same at every redelivery. */
  readonly messageId: string;
  readonly body: string;
  /** When SQS took it; of a message that was sent again, when SQS took the first one. @default - when it is registered */
  readonly sentAt?: Millis;
}

/** One as a queue delivers it. */
export type ReceivedMessage = RegisterMessage & { readonly sentAt: Millis };

/** A message that goes to the rejected queue. */
export interface Refused {
  readonly message: RegisterMessage;
  readonly problems: readonly Problem[];
  /** The item of the deferred list's job that it is, which has failed by that. */
  readonly job?: ItemId;
}

/** A message that may be registered, as the task that it becomes. */
export interface Valid {
  readonly message: RegisterMessage;
  readonly task: NewTask;
  /** See {@link Refused.job}. */
  readonly job?: ItemId;
}

/** A task that may be registered; it gets its `createdAt` when it is, and what counts from there. */
export type SentTask = Omit<NewTask, 'createdAt' | 'sentAt' | 'startBy' | 'run'> & {
  readonly expiresIn?: Millis;
  /** Whether it matters which of several tasks is newer. */
  readonly hasAge: boolean;
};

/** A sent task as it is registered at a moment. */
export const registeredAt = (
  { expiresIn, hasAge, ...task }: SentTask,
  { sentAt }: Pick<RegisterMessage, 'sentAt'>,
  createdAt: Millis,
): NewTask => ({
  ...task,
  createdAt,
  run: firstRun(createdAt),
  ...(hasAge && sentAt !== undefined ? { sentAt } : {}),
  ...(expiresIn === undefined ? {} : { startBy: createdAt + expiresIn }),
});

/**
 * A message that is longer is mostly space, or says things twice, since its payload may have half of that. It has to fit
 * into a message of 1 MiB once more, with an id, and where SQS wants characters escaped that were not.
 */
export const REGISTER_MAX_BYTES = 500_000;

/** What its fields may have: they are checked by this, and the published schema says it. */
export const REGISTER_LIMITS = {
  id: { pattern: TASK_ID_PATTERN },
  correlationId: { maxLength: 128 },
  priority: { type: 'integer', minimum: 0, maximum: 9 },
  // Below that no number can be stored: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
  weight: { minimum: 1e-130, maximum: 1_000_000_000 },
  // An empty one, mostly a producer's mistake, would make all of its tasks the same.
  coalesceKey: { minLength: 1, maxLength: 128 },
  version: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  // The span is beyond a schema's words.
  expiresIn: { pattern: DURATION_PATTERN },
  fanOutItem: { pattern: ITEM_PATTERN },
} as const satisfies Readonly<Record<string, TextLimits | NumberLimits>>;

const CORRELATION_RULE = 'must be well-formed text of at most 128 characters';
const KEY_RULE = 'must be well-formed text of 1 to 128 characters; leave it out for none';
const VERSION_RULE = 'must be a whole number from 0 to 9007199254740991 (2^53 - 1)';
const PRIORITY_RULE = 'must be a whole number from 0 to 9, the most urgent';
const WEIGHT_RULE = 'must be a number above 0 (from 1e-130), at most 1,000,000,000';
export const EXPIRES_RULE = 'must be a duration from "1s" to "30d", such as "10m"';
const [EXPIRES_LEAST, EXPIRES_MOST]: readonly [Millis, Millis] = [1_000, 30 * 24 * 60 * MINUTE];

/** A number, or a text, that fits; of anything else one problem. */
const numberOf = (error: string, limits: NumberLimits) =>
  z.optional(z.number({ error }).check(z.refine((value) => isNumberWithin(value, limits), { error })));
const textOf = (error: string, limits: TextLimits, fits = (text: string): boolean => isTextWithin(text, limits)) =>
  z.optional(z.string({ error }).check(z.refine(fits, { error })));

/** Undefined for anything that is no duration, or none that is allowed. */
const expiryOf = (text: string): Millis | undefined => {
  const span = parseDuration(text);
  return span !== undefined && span >= EXPIRES_LEAST && span <= EXPIRES_MOST ? span : undefined;
};
const ID_RULE = 'must be a text of 1 to 128 characters of A-Z a-z 0-9 . _ : @ - and begin with a letter or a digit';

/**
 * The fields of a register message. The payload is not walked: it may be large and deep, and is handed on as text.
 */
export const registerFields = z.strictObject(
  {
    operation: z.string({ error: 'must be the name of a configured operation' }),
    payload: z.custom<Record<string, unknown>>(isObject, { error: 'must be a JSON object' }),
    id: textOf(ID_RULE, REGISTER_LIMITS.id),
    correlationId: textOf(CORRELATION_RULE, REGISTER_LIMITS.correlationId),
    priority: numberOf(PRIORITY_RULE, REGISTER_LIMITS.priority),
    weight: numberOf(WEIGHT_RULE, REGISTER_LIMITS.weight),
    coalesceKey: textOf(KEY_RULE, REGISTER_LIMITS.coalesceKey),
    version: numberOf(VERSION_RULE, REGISTER_LIMITS.version),
    expiresIn: textOf(EXPIRES_RULE, REGISTER_LIMITS.expiresIn, (text) => expiryOf(text) !== undefined),
    callback: z.optional(z.string({ error: 'must be the name of a configured destination' })),
    fanOutItem: textOf(ITEM_ID_RULE, REGISTER_LIMITS.fanOutItem),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be a JSON object') },
);

type Fields = z.output<typeof registerFields>;

/** Checks one message against the configuration. Every problem is named, not only the first. */
export const parseRegisterMessage = (config: Config, message: RegisterMessage): Parsed<SentTask> => {
  const bytes = bytesOf(message.body);
  if (bytes > REGISTER_MAX_BYTES) return { ok: false, problems: [messageTooLarge(bytes)] };
  const json = parseJson(message.body);
  if (!json.ok) return json;
  const fields = registerFields.safeParse(json.value);
  if (!fields.success) {
    const problems = problemsIn(fields.error, 'a register message');
    return { ok: false, problems: [...problems, ...problemsBeside(problems, config, message, json.value)] };
  }
  const raw = rawPayload(message);
  const { operation, target, id, problems } = meaningOf(config, fields.data, message, raw);
  if (!operation || target === undefined || problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    value: {
      id,
      operation: operation.operation,
      target,
      payload: raw,
      payloadHash: payloadHashOf(raw),
      bytes: itemBytes(id, raw),
      ...wishes(operation.batch, fields.data),
      ...(operation.merge === null ? {} : { mergeKeys: operation.merge.keys }),
      hasAge: operation.merge !== null || fields.data.coalesceKey !== undefined,
    },
  };
};

const rawPayload = ({ body }: RegisterMessage): string => rawMembers(body).get('payload') ?? '{}';

/** What is wrong with the meaning of a message's other fields, when some are wrong by themselves. */
const problemsBeside = (
  known: readonly Problem[],
  config: Config,
  message: RegisterMessage,
  value: unknown,
): Problem[] => {
  if (!isObject(value)) return [];
  const wrong = new Set(known.map(({ path }) => path));
  const right: Partial<Fields> = Object.fromEntries(Object.entries(value).filter(([name]) => !wrong.has(name)));
  return meaningOf(config, right, message, rawPayload(message)).problems.filter(({ path }) => !wrong.has(path));
};

/** What fields that are right by themselves come to under the configuration, and what is wrong with that. */
const meaningOf = (config: Config, fields: Partial<Fields>, { messageId }: RegisterMessage, raw: string) => {
  const { operation: name, payload, weight, callback } = fields;
  const id = (fields.id ?? messageId) as TaskId;
  const operation = name === undefined ? undefined : operationNamed(config, name);
  const target = operation && payload ? targetOf(operation, payload, id) : undefined;
  const problems = [
    ...(name === undefined || operation ? [] : [unknownOperation(config, name)]),
    ...(Array.isArray(target) ? target : []),
    ...(payload ? tooLarge(id, raw, operation?.batch.maxBytes) : []),
    ...tooHeavy(weight, operation?.batch.maxWeight),
    ...(callback === undefined ? [] : unknownCallback(config, callback)),
    ...(payload ? unmergeable(operation, payload) : []),
  ];
  return { operation, target: Array.isArray(target) ? undefined : target, id, problems };
};

/** What a producer asks for beyond the work itself. What is as without asking is left out. */
const wishes = (
  { maxWait }: BatchPolicy,
  { correlationId, priority, weight, coalesceKey, version, expiresIn, callback, fanOutItem }: Fields,
): Partial<SentTask> => ({
  ...(correlationId === undefined ? {} : { correlationId }),
  // Where tasks hardly wait for others they may still wait for their turn: a priority is a second's worth at least.
  ...(priority ? { priority, ahead: priority * Math.max(maxWait, SECOND) } : {}),
  ...(weight === undefined || weight === 1 ? {} : { weight }),
  ...(coalesceKey === undefined ? {} : { coalesceKey }),
  ...(version === undefined ? {} : { version }),
  ...(expiresIn === undefined ? {} : { expiresIn: expiryOf(expiresIn) as Millis }),
  ...(callback === undefined ? {} : { callback }),
  ...(fanOutItem === undefined ? {} : { fanOutItem: fanOutItem as ItemId }),
});

export const unknownOperation = (config: Config, name: string): Problem => {
  const known = listed(Object.keys(config.operations));
  return {
    path: 'operation',
    reason: `is unknown: ${JSON.stringify(name.slice(0, 100))}; configured are ${known}`,
  };
};

/** A reason is short: there may be a thousand of them in one answer. */
const NAMES_SHOWN = 20;
const listed = (names: readonly string[]): string =>
  `${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''}`;

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

const tooHeavy = (weight: number | undefined, maxWeight = 0): Problem[] =>
  maxWeight > 0 && (weight ?? 1) > maxWeight
    ? [
        {
          path: 'weight',
          reason: `${weight === undefined ? 'counts as 1 where it is left out' : `is ${weight}`}; a batch of this operation has at most ${maxWeight} (batch.maxWeight)`,
        },
      ]
    : [];

/** Found here and not amid a batch: whoever sent it is told. */
const unmergeable = (operation: Operation | undefined, payload: object): readonly Problem[] => {
  const keys = operation?.merge ? keysIn(operation.merge.keys, payload) : undefined;
  return keys?.ok === false ? keys.problems : [];
};

/** A message names a destination, never an address: an address is not shown, since reasons are logged. */
export const unknownCallback = ({ destinations }: Config, name: string): Problem[] => {
  if (Object.hasOwn(destinations, name)) return [];
  const known = Object.keys(destinations);
  const are = known.length > 0 ? `configured are ${listed(known)}` : 'none is configured';
  const what = OPERATION_NAME_PATTERN.test(name)
    ? `is unknown: ${JSON.stringify(name)}`
    : 'must be the name of a destination';
  return [{ path: 'callback', reason: `${what}; ${are}` }];
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
  if (asksForRun(json.value) || asksForJobs(json.value)) return body;
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
