/**
 * Fields of what callers send. Each says in one place what it takes: requests are checked by it, the published schema says
 * it, and the types of the routes follow from it.
 */
import * as z from 'zod/mini';
import {
  isTarget,
  isToken,
  OPERATION_NAME_PATTERN,
  TARGET_LIMITS,
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

/** Text that is kept: so many bytes of it at the most, of which a schema can count the characters alone. */
export const textOfBytes = (description: string, most: number) => {
  const limits = { minLength: 1, maxLength: most };
  const fits = (value: string): boolean => isTextWithin(value, limits) && Buffer.byteLength(value) <= most;
  const error = `must be well-formed text of 1 to ${most} bytes`;
  return z.string({ error }).check(z.refine(fits, { error }), z.meta({ description, ...limits }));
};

/** The name of something of ours. @param isOne whether it can be one; limits say so too, as far as a schema can */
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

/** A list. One that is too long is not looked at: it may have millions of elements, each with a problem. */
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

/** What words say, as it is published. */
export const inWords = (description: string, words: Readonly<Record<string, string>>): string =>
  [`${description}:`, ...Object.entries(words).map(([each, meaning]) => `- \`${each}\`: ${meaning}`)].join('\n');

/** An object of these fields, and no other: a misspelt one would be taken for none. @param otherwise of what is no object */
export const fields = <Shape extends z.core.$ZodLooseShape>(shape: Shape, otherwise?: string) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? unknownField(Object.keys(shape)) : otherwise),
  });

/** @param known the fields that there are */
const unknownField = (known: readonly string[]): string =>
  `is unknown${known.length > 0 ? `; known are ${known.join(', ')}` : ': this call takes no body, only what its query says'}`;

/** A JSON object of the caller's own. */
export const object = (description: string) =>
  z
    .custom<Readonly<Record<string, unknown>>>(isObject, { error: 'must be a JSON object' })
    .check(z.meta({ type: 'object', description }));

/** One of some words, each with what it says. */
export const word = <Word extends string>(description: string, error: string, words: Readonly<Record<Word, string>>) =>
  z.enum(Object.keys(words) as [Word, ...Word[]], { error }).check(z.describe(inWords(description, words)));

/**
 * An object that has one of some fields, and not two: of both nobody would know which counts. It is published as the forms
 * that it has.
 *
 * @param forms each with all that it takes, by the field that it is told by
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

/** For a call without one: whoever asks for less in a body, or for a dry run, must not get all of it. */
export const NO_BODY = fields({}).check(z.meta({ id: 'NoBody', description: 'No body, or an empty object.' }));

/** A number of a query, in plain digits: it has many more ways to be written, which hardly anybody means. */
const digits = (usual: number, ...field: Parameters<typeof whole>) =>
  z.pipe(
    z.transform((value: unknown = String(usual)) =>
      /^(?:0|[1-9]\d*)$/.test(String(value)) ? Number(value) : Number.NaN,
    ),
    whole(...field).check(z.meta({ default: usual })),
  );

/** How much of a list is wanted at once. */
export const limit = (usual: number, most = 100) => digits(usual, 'So many at the most, in plain digits.', 1, most);

/** The number at which a list of numbered elements is to go on. */
export const from = digits(
  0,
  'The number of the first, in plain digits.',
  0,
  999_999_999_999,
  'must be a whole number, 0 or more',
);

const OF_BEFORE = 'The `cursor` of the page before, for the next one.';

/** Where a list goes on. Only what gave it can tell whether it did; an empty one nobody gives. */
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

/** The `limit` and `cursor` of lists. */
export const paging = (usual: number) => ({ limit: limit(usual), cursor: cursor() });

export const TARGET_RULE = 'must be a Target, such as "distribute-parcels/carrier=DHL/depot=MUC"';

/** A Target that may exist. */
export const target = (description = 'A Target, such as `distribute-parcels/carrier=DHL/depot=MUC`.') =>
  nameOf<Target>(description, TARGET_RULE, isTarget, TARGET_LIMITS);

/** What makes a call repeatable, if it is given. */
export const token = () =>
  z.optional(
    nameOf<Token>(
      'Makes the call repeatable: the same token gets the same answer.',
      `must be well-formed text of 1 to ${TOKEN_MAX} characters`,
      isToken,
      { minLength: 1, maxLength: TOKEN_MAX },
    ),
  );

/** The name of something configured, if it is given. What there is of it the configuration alone can tell. */
export const configured = (what: 'operation' | 'destination', description: string) =>
  z.optional(
    z
      .string({ error: `must be the name of a configured ${what}` })
      .check(z.meta({ description, ...published({ pattern: OPERATION_NAME_PATTERN }) })),
  );

/** A dry run is said by `true`: whoever says it otherwise must not get a real one. */
export const dryRun = (description: string) => z.optional(flag(description, 'must be true or false'));
