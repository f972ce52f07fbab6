/**
 * Fields of requests. Each rule is written once: the API checks requests with it, the published schema contains it, and
 * the types of the routes are derived from it.
 */
import * as z from 'zod/mini';
import {
  isTarget,
  isToken,
  OPERATION_NAME_PATTERN,
  TARGET_LIMITS,
  TARGET_MAX_BYTES,
  type Target,
  TOKEN_MAX,
  type Token,
} from '../../domain/ids.ts';
import { InvalidCursor } from '../../ports/rows.ts';
import { isObject } from '../../util/json-text.ts';
import { isNumberWithin, isTextWithin, type NumberLimits, published, type TextLimits } from '../../util/limits.ts';

export const text = (description: string, rule: string, limits: TextLimits) =>
  z.string({ error: rule }).check(
    z.refine((value) => isTextWithin(value, limits), { error: rule }),
    z.meta({ description, ...published(limits) }),
  );

/** A stored text with a maximum size in bytes. The published schema can only limit the number of characters. */
export const textOfBytes = (description: string, most: number) => {
  const limits = { minLength: 1, maxLength: most };
  const fits = (value: string): boolean => isTextWithin(value, limits) && Buffer.byteLength(value) <= most;
  const error = `must be well-formed text of 1 to ${most} bytes`;
  return z.string({ error }).check(z.refine(fits, { error }), z.meta({ description, ...limits }));
};

const isBeginning = (text: string): boolean => text.isWellFormed() && Buffer.byteLength(text) <= TARGET_MAX_BYTES;

/** The beginning of a Target, or of a part of it. An empty text is treated as none. */
export const beginning = (description: string, example: string) =>
  z.optional(
    z
      .string()
      .check(
        z.refine(isBeginning, { error: `must be well-formed text of 1 to ${TARGET_MAX_BYTES} bytes` }),
        z.meta({ description, maxLength: TARGET_MAX_BYTES, examples: [example] }),
      ),
  );

/**
 * An id or name. @param isOne returns whether a text is valid. @param limits the same rule, as far as a JSON Schema can
 * express it
 */
export const nameOf = <Name extends string>(
  description: string,
  error: string,
  isOne: (value: string) => boolean,
  limits: TextLimits,
) =>
  z
    .custom<Name>((value) => typeof value === 'string' && isOne(value), { error })
    .check(z.meta({ type: 'string', description, ...published(limits) }));

export const number = (description: string, error: string, limits: NumberLimits) =>
  z.number({ error }).check(
    z.refine((value) => isNumberWithin(value, limits), { error }),
    z.meta({ description, ...limits }),
  );

export const whole = (
  description: string,
  minimum: number,
  maximum: number,
  rule = `must be a whole number from ${minimum} to ${maximum}`,
) => number(description, rule, { type: 'integer', minimum, maximum });

export const flag = (description: string, error: string) => z.boolean({ error }).check(z.meta({ description }));

/**
 * A list. If the list is too long, its elements are not checked, because millions of elements could each give an error.
 */
export const list = <Element extends z.core.$ZodType>(
  element: Element,
  description: string,
  error: string,
  minItems: number,
  maxItems: number,
) => {
  const fits = (value: unknown): boolean =>
    Array.isArray(value) && value.length >= minItems && value.length <= maxItems;
  return z
    .pipe(
      z.transform((input: unknown, { issues }) => {
        if (!fits(input)) issues.push({ code: 'custom', message: error, input });
        return input as z.input<Element>[];
      }),
      z.array(element),
    )
    .check(z.meta({ description, minItems, maxItems }));
};

/** The published description of an enum, with the meaning of each word. */
export const inWords = (description: string, words: Readonly<Record<string, string>>): string =>
  [`${description}:`, ...Object.entries(words).map(([each, meaning]) => `- \`${each}\`: ${meaning}`)].join('\n');

/**
 * An object that allows only these fields, so that a misspelt field is an error. @param otherwise the message if the
 * value is not an object
 */
export const fields = <Shape extends z.core.$ZodLooseShape>(shape: Shape, otherwise?: string) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? unknownField(Object.keys(shape)) : otherwise),
  });

/** @param known the names of all fields */
const unknownField = (known: readonly string[]): string =>
  `is unknown${known.length > 0 ? `; known are ${known.join(', ')}` : ': this call takes query parameters only, and no body'}`;

/** A JSON object with fields of the caller's choice. */
export const object = (description: string) =>
  z
    .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be a JSON object' })
    .check(z.meta({ type: 'object', description }));

/** An enum with the meaning of each word. */
export const word = <Word extends string>(description: string, error: string, words: Readonly<Record<Word, string>>) =>
  z.enum(Object.keys(words) as [Word, ...Word[]], { error }).check(z.describe(inWords(description, words)));

/**
 * An object with exactly one of several fields. Two of the fields would contradict each other. The schema publishes
 * each form of the object separately.
 *
 * @param forms all fields of each form, keyed by the field that identifies the form
 */
export const oneOf = <Forms extends Readonly<Record<string, z.core.$ZodLooseShape>>>(
  forms: Forms,
  error: string,
  meta: { readonly id: string; readonly description?: string },
) => {
  const told = Object.entries(forms).map(([name, form]) => ({ [name]: form[name] }));
  const all = Object.assign({}, ...told, ...Object.values(forms).toReversed()) as Record<string, z.core.$ZodType>;
  const shape = Object.fromEntries(Object.entries(all).map(([name, field]) => [name, z.optional(field)]));
  const isOne = (body: object): boolean => Object.keys(forms).filter((name) => Object.hasOwn(body, name)).length === 1;
  return fields(shape).check(
    z.refine(isOne, { error, when: ({ value }) => isObject(value) }),
    z.meta({ ...meta, forms: Object.values(forms).map((form) => z.strictObject(form)) }),
  ) as unknown as z.ZodMiniType<{ [Name in keyof Forms]: z.output<z.ZodMiniObject<Forms[Name]>> }[keyof Forms]>;
};

/** For calls without a body. A body with fields, such as `dryRun`, is refused rather than ignored. */
export const NO_BODY = fields({}).check(z.meta({ id: 'NoBody', description: 'No body, or an empty object.' }));

/** A number in a query, written only with digits: without a sign, an exponent or leading zeros. */
const digits = (usual: number, ...field: Parameters<typeof whole>) =>
  z.pipe(
    z.transform((value: unknown = String(usual)) =>
      /^(?:0|[1-9]\d*)$/.test(String(value)) ? Number(value) : Number.NaN,
    ),
    whole(...field).check(z.meta({ default: usual })),
  );

/** The query parameter for the page size. */
export const limit = (usual: number, most = 100) =>
  digits(usual, 'Maximum number of elements on a page, in plain digits.', 1, most);

/** The number of the element at which a page begins, in a list of numbered elements. */
export const from = digits(
  0,
  'Number of the first job, in plain digits.',
  0,
  999_999_999_999,
  'must be a whole number, 0 or more',
);

const OF_BEFORE = 'The `cursor` of the previous page.';

/**
 * The query parameter for the start of a page. Only the adapter that made a cursor can validate it. An empty cursor is
 * refused here, because no adapter makes one.
 */
export const cursor = (description = OF_BEFORE, limits: TextLimits = { minLength: 1 }) =>
  z.optional(
    z.string({ error: 'must be a text' }).check(
      z.refine((value) => {
        if (!isTextWithin(value, limits)) throw new InvalidCursor();
        return true;
      }),
      z.meta({ description, ...published(limits) }),
    ),
  );

/** The parameters `limit` and `cursor`. */
export const paging = (usual: number) => ({ limit: limit(usual), cursor: cursor() });

const A_TARGET = 'distribute-parcels/carrier=DHL/depot=MUC';
const TARGET_RULE = `must be a Target, such as "${A_TARGET}"`;

/** A well-formed Target. */
export const target = (description = `A Target, such as \`${A_TARGET}\`.`) =>
  nameOf<Target>(description, TARGET_RULE, isTarget, TARGET_LIMITS).check(z.meta({ examples: [A_TARGET] }));

/** An optional token that makes a call idempotent. */
export const token = () =>
  z.optional(
    nameOf<Token>(
      'Makes the call idempotent: a repeat with the same token gets the same answer.',
      `must be well-formed text of 1 to ${TOKEN_MAX} characters`,
      isToken,
      { minLength: 1, maxLength: TOKEN_MAX },
    ),
  );

/** Names in examples. */
const CONFIGURED = { operation: 'distribute-parcels', destination: 'ops' } as const;

/** An optional name of an operation or destination. `unconfigured.ts` checks that the configuration has it. */
export const configured = (what: keyof typeof CONFIGURED, description: string) =>
  z.optional(
    z
      .string({ error: `must be the name of a configured ${what}` })
      .check(z.meta({ description, ...published({ pattern: OPERATION_NAME_PATTERN }), examples: [CONFIGURED[what]] })),
  );

/**
 * The flag for a dry run. Any value except true and false is an error, so that a typing error never starts a real
 * redrive.
 */
export const dryRun = (description: string) => z.optional(flag(description, 'must be true or false'));
