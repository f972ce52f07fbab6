/**
 * Schemas and descriptions for the published documents only. The API does not check its answers against them, but tests
 * do. No Lambda function loads this file.
 */
import * as z from 'zod/mini';
import { type NumberLimits, published, type TextLimits } from '../../util/limits.ts';
import type { Call, Calls } from './calls.ts';
import { inWords } from './fields.ts';

export const text = (description: string, limits: TextLimits = {}) =>
  z.string().check(z.meta({ description, ...published(limits) }));

export const whole = (description: string, minimum = 0, maximum?: number) =>
  z.number().check(z.meta({ type: 'integer', description, minimum, ...(maximum === undefined ? {} : { maximum }) }));

export const number = (description: string, limits: Omit<NumberLimits, 'type'> = {}) =>
  z.number().check(z.meta({ description, ...limits }));

export const flag = (description: string) => z.boolean().check(z.describe(description));
/** A flag that is present only if it is true. */
export const onlyTrue = (description: string) => z.literal(true).check(z.describe(description));

/** A time in ISO 8601, UTC, with milliseconds. */
export const moment = (description: string) => z.string().check(z.meta({ format: 'date-time', description }));

/** An array with an optional minimum and maximum length. */
export const list = <Element extends z.core.$ZodType>(
  element: Element,
  description: string,
  least?: number,
  most?: number,
): z.ZodMiniType<readonly z.output<Element>[]> =>
  z.array(element).check(
    z.meta({
      description,
      ...(least === undefined ? {} : { minItems: least }),
      ...(most === undefined ? {} : { maxItems: most }),
    }),
  );

/** An enum with the meaning of each word. The type requires a meaning for every word. */
export const word = <Word extends string>(description: string, words: Readonly<Record<Word, string>>) =>
  z.enum(Object.keys(words) as [Word, ...Word[]]).check(z.describe(inWords(description, words)));

/** JSON of any kind. */
export const anything = (description: string) => z.unknown().check(z.describe(description));

/** A JSON object whose fields the caller chooses. */
export const anyObject = (description: string) =>
  z.unknown().check(z.meta({ type: 'object', description })) as unknown as z.ZodMiniType<
    Readonly<Record<string, unknown>>
  >;

/** The cursor of the next page. */
export const CURSOR = z.optional(text('Send it as `cursor` to get the next page. Missing on the last page.'));

export const SKIPPED = z
  .object({ id: text('The id of the skipped element.'), reason: text('Why it was skipped.') })
  .check(z.meta({ id: 'Skipped', description: 'An element that the call left unchanged, and why.' }));
export type Skipped = z.infer<typeof SKIPPED>;

/** One error in a request or message. */
export const PROBLEM_PLACE = z
  .object({
    path: text('The path of the field, such as `payload.depot`. Empty if the error concerns the whole input.'),
    reason: text('What is wrong, and what to do.'),
  })
  .check(z.meta({ id: 'InputError', description: 'One error in the input.' }));

export const PROBLEM = z
  .object({
    type: z.literal('about:blank'),
    title: text('The meaning of the status.'),
    status: whole('The HTTP status.', 400, 599),
    detail: text('What is wrong and, where possible, what to do.'),
    errors: z.optional(list(PROBLEM_PLACE, 'With 400: all errors in the request, at most 1,000.')),
    errorsInAll: z.optional(whole('The number of all errors, if there are more than are listed.')),
  })
  .check(z.meta({ id: 'Problem', description: 'A problem (RFC 9457).' }));

/** The documentation of a call of the API. */
export interface Said {
  readonly summary: string;
  readonly description?: string;
  /** An example of the request's body. */
  readonly example?: unknown;
  /** The successful answers, by status. */
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly schema: z.core.$ZodType; readonly example?: unknown }>
  >;
  /** When the call answers with these error statuses. Every call may also answer 400, 500 and 503. */
  readonly problems?: Readonly<Partial<Record<403 | 404 | 409 | 503, string>>>;
}

/** A call with its documentation. */
export interface Described extends Call, Said {
  readonly id: string;
}

/** Joins calls with their documentation. */
export const describeCalls = <All extends Calls>(
  calls: All,
  said: { readonly [Name in keyof All]: Said },
): readonly Described[] =>
  Object.entries(calls).map(([id, call]) => ({ id, ...call, ...(said[id as keyof All] as Said) }));
