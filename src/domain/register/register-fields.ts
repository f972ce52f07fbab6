/** The fields of a register message for a task. The same limits serve the check here and the published schema. */
import * as z from 'zod/mini';
import { isObject } from '../../util/json-text.ts';
import { isNumberWithin, isTextWithin, type NumberLimits, type TextLimits } from '../../util/limits.ts';
import { DURATION_PATTERN, parseDuration } from '../config/duration.ts';
import { ITEM_ID_RULE, ITEM_PATTERN } from '../fan-out-ids.ts';
import { type Millis, TASK_ID_PATTERN } from '../ids.ts';
import { MINUTE } from '../timings.ts';

/** The limits of the fields. */
export const REGISTER_LIMITS = {
  id: { pattern: TASK_ID_PATTERN },
  correlationId: { maxLength: 128 },
  priority: { type: 'integer', minimum: 0, maximum: 9 },
  // DynamoDB cannot store a smaller number:
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
  weight: { minimum: 1e-130, maximum: 1_000_000_000 },
  // An empty key is usually a producer's mistake, and would make all of its tasks replace each other.
  coalesceKey: { minLength: 1, maxLength: 128 },
  version: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  // A JSON Schema cannot express the range of a duration.
  expiresIn: { pattern: DURATION_PATTERN },
  fanOutItem: { pattern: ITEM_PATTERN },
} as const satisfies Readonly<Record<string, TextLimits | NumberLimits>>;

const ID_RULE = 'must be a text of 1 to 128 characters of A-Z a-z 0-9 . _ : @ - and begin with a letter or a digit';
const CORRELATION_RULE = 'must be well-formed text of at most 128 characters';
const KEY_RULE = 'must be well-formed text of 1 to 128 characters; leave it out for none';
const VERSION_RULE = 'must be a whole number from 0 to 9007199254740991 (2^53 - 1)';
const PRIORITY_RULE = 'must be a whole number from 0 to 9 (9 is the most urgent)';
export const WEIGHT_RULE = 'must be a number from 1e-130 to 1,000,000,000';
export const EXPIRES_RULE = 'must be a duration from "1s" to "30d", such as "10m"';
const [EXPIRES_LEAST, EXPIRES_MOST]: readonly [Millis, Millis] = [1_000, 30 * 24 * 60 * MINUTE];

/** A number or a text within limits. Any other value gives a single problem. */
export const numberOf = (error: string, limits: NumberLimits) =>
  z.number({ error }).check(z.refine((value) => isNumberWithin(value, limits), { error }));
export const textOf = (error: string, fits: TextLimits | ((text: string) => boolean)) =>
  z
    .string({ error })
    .check(z.refine((text) => (typeof fits === 'function' ? fits(text) : isTextWithin(text, fits)), { error }));

/** Returns the duration. Undefined if the text is no duration, or no allowed one. */
export const expiryOf = (text: string): Millis | undefined => {
  const span = parseDuration(text);
  return span !== undefined && span >= EXPIRES_LEAST && span <= EXPIRES_MOST ? span : undefined;
};

/** The payload's members are not checked: it may be large and deeply nested, and is passed on as text. */
export const registerFields = z.strictObject(
  {
    operation: z.string({ error: 'must be the name of a configured operation' }),
    payload: z.custom<Record<string, unknown>>(isObject, { error: 'must be a JSON object' }),
    id: z.optional(textOf(ID_RULE, REGISTER_LIMITS.id)),
    correlationId: z.optional(textOf(CORRELATION_RULE, REGISTER_LIMITS.correlationId)),
    priority: z.optional(numberOf(PRIORITY_RULE, REGISTER_LIMITS.priority)),
    weight: z.optional(numberOf(WEIGHT_RULE, REGISTER_LIMITS.weight)),
    coalesceKey: z.optional(textOf(KEY_RULE, REGISTER_LIMITS.coalesceKey)),
    version: z.optional(numberOf(VERSION_RULE, REGISTER_LIMITS.version)),
    expiresIn: z.optional(textOf(EXPIRES_RULE, (text) => expiryOf(text) !== undefined)),
    callback: z.optional(z.string({ error: 'must be the name of a configured destination' })),
    fanOutItem: z.optional(textOf(ITEM_ID_RULE, REGISTER_LIMITS.fanOutItem)),
  },
  { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'must be a JSON object') },
);

export type Fields = z.output<typeof registerFields>;
