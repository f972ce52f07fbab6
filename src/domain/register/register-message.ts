/** The register message, which producers send: checks it against the configuration, and turns it into a task. */
import { isObject, rawMembers } from '../../util/json-text.ts';
import { mapParsed, type Parsed, type Problem, problemsIn } from '../../util/problems.ts';
import type { BatchPolicy } from '../config/policies.ts';
import { type Config, type Operation, operationNamed } from '../config/resolved.ts';
import { type ItemId, itemIdOf, parseItemId } from '../fan-out-ids.ts';
import { type Millis, OPERATION_NAME_PATTERN, type TaskId } from '../ids.ts';
import { keysIn } from '../merging/inputs.ts';
import type { Sender } from '../producers/sender.ts';
import { targetOf } from '../target.ts';
import {
  firstRun,
  itemBytes,
  type NewTask,
  optionsOf,
  PAYLOAD_MAX_BYTES,
  payloadHashOf,
  type TaskOptions,
  type TaskRun,
} from '../tasks/task.ts';
import { SECOND } from '../timings.ts';
import { parseRedrive } from './redrive-message.ts';
import { jsonIn, kindOf } from './register-body.ts';
import { expiryOf, type Fields, registerFields } from './register-fields.ts';
import { parseTrigger, type TriggerMessage } from './trigger-message.ts';

/** One message of the register queue. */
export interface RegisterMessage {
  /**
   * SQS's id of the message, which is the same at every redelivery. If the body has no id, this id becomes the task's
   * id.
   */
  readonly messageId: string;
  readonly body: string;
  /**
   * When SQS accepted the message. For a message that was sent again, when SQS accepted the first one. @default - the
   * time of registration
   */
  readonly sentAt?: Millis;
  /** @default - {@link UNKNOWN_SENDER} */
  readonly sender?: Sender;
}

/** A message as a queue delivers it. */
export type ReceivedMessage = RegisterMessage & { readonly sentAt: Millis };

/** A message that goes to the rejected queue. */
export interface Refused {
  readonly message: RegisterMessage;
  readonly problems: readonly Problem[];
  /**
   * If the message belongs to a job of a deferred list: the job's item. The item fails because the message is refused.
   */
  readonly job?: ItemId;
}

/** A message that may be registered, with the task that it becomes. */
export interface Valid {
  readonly message: RegisterMessage;
  readonly task: NewTask;
  /** See {@link Refused.job}. */
  readonly job?: ItemId;
  /** The token of the task's fan-out item, if the message contains one. It is not stored. */
  readonly itemToken?: string;
}

/** A task that may be registered. `createdAt`, and the fields computed from it, are set at registration. */
export type SentTask = Omit<NewTask, 'createdAt' | 'sentAt' | 'startBy' | 'run'> & {
  readonly expiresIn?: Millis;
  /** Whether Groupage must know which of several tasks is newer. */
  readonly hasAge: boolean;
  /** See {@link Valid.itemToken}. */
  readonly itemToken?: string;
};

/** A sent task with the fields that are set when it is registered. */
export const registeredAt = (
  { expiresIn, hasAge, itemToken: _, ...task }: SentTask,
  { sentAt }: Pick<RegisterMessage, 'sentAt'>,
  createdAt: Millis,
): NewTask => ({
  ...task,
  createdAt,
  run: firstRun(createdAt),
  ...(hasAge && sentAt !== undefined ? { sentAt } : {}),
  ...(expiresIn === undefined ? {} : { startBy: createdAt + expiresIn }),
});

/** What a register message asks for. The body has no `kind`; its fields determine it. */
export type RegisterBody =
  | { readonly kind: 'task'; readonly task: SentTask }
  | { readonly kind: 'redrive'; readonly run: TaskRun }
  | { readonly kind: 'trigger'; readonly trigger: TriggerMessage };

/** The largest length of a redrive or trigger message, in characters. A longer body is checked as a task. */
const OTHERS_MAX_LENGTH = 1_000;

/** Checks one message against the configuration. The result names every problem, not only the first. */
export const parseRegisterBody = (config: Config, message: RegisterMessage): Parsed<RegisterBody> => {
  const json = jsonIn(message.body);
  if (!json.ok) return json;
  const kind = message.body.length > OTHERS_MAX_LENGTH ? 'task' : kindOf(json.value);
  switch (kind) {
    case 'task':
      return mapParsed(taskIn(config, message, json.value), (task) => ({ kind, task }));
    case 'redrive':
      return mapParsed(parseRedrive(json.value), (run) => ({ kind, run }));
    case 'trigger':
      return mapParsed(parseTrigger(json.value), (trigger) => ({ kind, trigger }));
  }
};

/** Checks a message that must contain a task. */
export const parseRegisterMessage = (config: Config, message: RegisterMessage): Parsed<SentTask> => {
  const json = jsonIn(message.body);
  return json.ok ? taskIn(config, message, json.value) : json;
};

const taskIn = (config: Config, message: RegisterMessage, value: unknown): Parsed<SentTask> => {
  const fields = registerFields.safeParse(value);
  if (!fields.success) {
    const problems = problemsIn(fields.error, 'a register message');
    return { ok: false, problems: [...problems, ...problemsBeside(problems, config, message, value)] };
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
      ...optionsAsStored(operation.batch, fields.data),
      ...(operation.merge === null ? {} : { mergeKeys: operation.merge.keys }),
      hasAge: operation.merge !== null || fields.data.coalesceKey !== undefined,
    },
  };
};

const rawPayload = ({ body }: RegisterMessage): string => rawMembers(body).get('payload') ?? '{}';

/**
 * If some fields are invalid: the problems that the valid fields have with the configuration. So the refusal names all
 * problems.
 */
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

/** Combines valid fields with the configuration: the values of the task, and the problems that were found. */
const meaningOf = (config: Config, fields: Partial<Fields>, { messageId }: RegisterMessage, raw: string) => {
  const { operation: name, payload, weight, callback } = fields;
  const id = (fields.id ?? messageId) as TaskId;
  const operation = name === undefined ? undefined : operationNamed(config, name);
  const target = operation && payload ? targetOf(operation, payload, id, raw) : undefined;
  const problems = [
    ...(name === undefined || operation ? [] : [unknownOperation(config, name)]),
    ...(Array.isArray(target) ? target : []),
    ...(payload ? tooLarge(id, raw, operation?.batch.maxBytes) : []),
    ...tooHeavy(weight, operation?.batch.maxWeight),
    ...(callback === undefined ? [] : unknownCallback(config, callback)),
    ...(payload ? unmergeable(operation, payload, raw) : []),
  ];
  return { operation, target: Array.isArray(target) ? undefined : target, id, problems };
};

/** The optional settings of a task. Settings with their default value are left out. */
const optionsAsStored = ({ maxWait }: BatchPolicy, fields: Fields): Partial<SentTask> => {
  const { priority, weight, ...asSent } = optionsOf(fields as TaskOptions);
  const { expiresIn } = fields;
  const item = parseItemId(fields.fanOutItem);
  return {
    ...(asSent as Partial<SentTask>),
    // The token is not stored: a reader of the task could use it, and earlier releases cannot read it.
    ...(item ? { fanOutItem: itemIdOf(item) } : {}),
    ...(item?.token === undefined ? {} : { itemToken: item.token }),
    // With a short `maxWait` tasks may still wait for a free slot, so each priority step counts at least a second.
    ...(priority ? { priority, ahead: priority * Math.max(maxWait, SECOND) } : {}),
    ...(weight === undefined || weight === 1 ? {} : { weight }),
    ...(expiresIn === undefined ? {} : { expiresIn: expiryOf(expiresIn) as Millis }),
  };
};

export const unknownOperation = (config: Config, name: string): Problem => {
  const known = listed(Object.keys(config.operations));
  return {
    path: 'operation',
    reason: `is unknown: ${JSON.stringify(name.slice(0, 100))}; configured are ${known}`,
  };
};

/** The largest number of names in a reason. Reasons are short, because one answer may contain a thousand of them. */
const NAMES_SHOWN = 20;
const listed = (names: readonly string[]): string =>
  `${names.slice(0, NAMES_SHOWN).join(', ')}${names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''}`;

const tooLarge = (id: TaskId, raw: string, maxBytes = Number.POSITIVE_INFINITY): Problem[] => {
  const bytes = Buffer.byteLength(raw);
  const fault = (reason: string): Problem[] => [{ path: 'payload', reason: `has ${bytes} bytes; ${reason}` }];
  if (bytes > PAYLOAD_MAX_BYTES)
    return fault(`at most ${PAYLOAD_MAX_BYTES} are allowed: store the payload elsewhere and send a reference`);
  return itemBytes(id, raw) > maxBytes
    ? fault(`a batch of this operation holds at most ${maxBytes} (batch.maxBytes)`)
    : [];
};

const tooHeavy = (weight: number | undefined, maxWeight = 0): Problem[] =>
  maxWeight > 0 && (weight ?? 1) > maxWeight
    ? [
        {
          path: 'weight',
          reason: `${weight === undefined ? 'is 1 by default' : `is ${weight}`}; a batch of this operation has at most ${maxWeight} (batch.maxWeight)`,
        },
      ]
    : [];

/**
 * Whether `merge` can read the inputs. The check is made at registration, and not when the batch is called, so that the
 * producer gets the reason.
 */
const unmergeable = (operation: Operation | undefined, payload: object, raw: string): readonly Problem[] => {
  const keys = operation?.merge ? keysIn(operation.merge.keys, payload, raw) : undefined;
  return keys?.ok === false ? keys.problems : [];
};

/**
 * A message names a destination, never an address. A text that looks like an address is not quoted, because reasons are
 * logged.
 */
export const unknownCallback = ({ destinations }: Config, name: string): Problem[] => {
  if (Object.hasOwn(destinations, name)) return [];
  const known = Object.keys(destinations);
  const are = known.length > 0 ? `configured are ${listed(known)}` : 'none is configured';
  const what = OPERATION_NAME_PATTERN.test(name)
    ? `is unknown: ${JSON.stringify(name)}`
    : 'must be the name of a destination';
  return [{ path: 'callback', reason: `${what}; ${are}` }];
};
