/**
 * What is published of the API and its messages, beside what is checked. Answers are written down here, and not parsed by:
 * tests hold what is really said to them. No function loads this.
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
/** What is there only where it is true. */
export const onlyTrue = (description: string) => z.literal(true).check(z.describe(description));

/** An ISO 8601 moment in UTC, with milliseconds. */
export const moment = (description: string) => z.string().check(z.meta({ format: 'date-time', description }));

/** A list of something. */
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

/** One of some words, each with what it says: all that the type has. */
export const word = <Word extends string>(description: string, words: Readonly<Record<Word, string>>) =>
  z.enum(Object.keys(words) as [Word, ...Word[]]).check(z.describe(inWords(description, words)));

/** JSON of any kind. */
export const anything = (description: string) => z.unknown().check(z.describe(description));

/** A JSON object of the caller's own. */
export const anyObject = (description: string) =>
  z.unknown().check(z.meta({ type: 'object', description })) as unknown as z.ZodMiniType<
    Readonly<Record<string, unknown>>
  >;

/** Passes a page on. */
export const CURSOR = z.optional(text('Pass it on for the next page; missing on the last one.'));

export const SKIPPED = z
  .object({ id: text('Of what nothing was done with.'), reason: text('Why.') })
  .check(z.meta({ id: 'Skipped', description: 'What was left as it is.' }));
export type Skipped = z.infer<typeof SKIPPED>;

/** One thing wrong with an input. */
export const PROBLEM_PLACE = z
  .object({
    path: text('Where: a path such as `payload.depot`; empty for the whole.'),
    reason: text('What is wrong there, and what to do about it.'),
  })
  .check(z.meta({ id: 'InputError', description: 'One thing that is wrong with what was sent.' }));

export const PROBLEM = z
  .object({
    type: z.literal('about:blank'),
    title: text('What the status says, in words.'),
    status: whole('The status of the answer.', 400, 599),
    detail: text('What is wrong and, where it can be said, what to do.'),
    errors: z.optional(list(PROBLEM_PLACE, 'With 400: everything that is wrong with the request, up to a thousand.')),
    errorsInAll: z.optional(whole('How many they are, where they are more than are named.')),
  })
  .check(z.meta({ id: 'Problem', description: 'A problem (RFC 9457).' }));

/** What is said of a call, beside what it takes. */
export interface Said {
  readonly summary: string;
  readonly description?: string;
  /** A body that it takes. */
  readonly example?: unknown;
  /** By their statuses. */
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly schema: z.core.$ZodType; readonly example?: unknown }>
  >;
  /** Beside 400, 500 and 503, which each may answer, when it does. */
  readonly problems?: Readonly<Partial<Record<404 | 409 | 503, string>>>;
}

/** A call with all that is published of it. */
export interface Described extends Call, Said {
  readonly id: string;
}

/** Calls with what is said of each. */
export const describeCalls = <All extends Calls>(
  calls: All,
  said: { readonly [Name in keyof All]: Said },
): readonly Described[] =>
  Object.entries(calls).map(([id, call]) => ({ id, ...call, ...(said[id as keyof All] as Said) }));
