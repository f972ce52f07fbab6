/** Fields of which messages, answers and events are made. They are written down here, and not parsed by: tests hold what is really said to them. */
import * as z from 'zod';
import type { NumberLimits, TextLimits } from '../../src/util/limits.ts';

/** What a schema says of limits. */
export const published = ({ pattern, ...limits }: TextLimits & NumberLimits): Record<string, unknown> => ({
  ...limits,
  ...(pattern === undefined ? {} : { pattern: pattern.source }),
});

export const text = (description: string, limits: TextLimits = {}) =>
  z.string().meta({ description, ...published(limits) });

export const whole = (description: string, minimum = 0, maximum?: number) =>
  z.number().meta({ type: 'integer', description, minimum, ...(maximum === undefined ? {} : { maximum }) });

export const number = (description: string, limits: Omit<NumberLimits, 'type'> = {}) =>
  z.number().meta({ description, ...limits });

export const flag = (description: string) => z.boolean().describe(description);
/** What is there only where it is true. */
export const onlyTrue = (description: string) => z.literal(true).describe(description);

/** An ISO 8601 moment in UTC, with milliseconds. */
export const moment = (description: string) => z.string().meta({ format: 'date-time', description });

/** A list of something. */
export const list = <Element extends z.ZodType>(element: Element, description: string, least?: number, most?: number) =>
  z.array(element).meta({
    description,
    ...(least === undefined ? {} : { minItems: least }),
    ...(most === undefined ? {} : { maxItems: most }),
  });

/** One of some words, each with what it says: all that the type has. */
export const word = <Word extends string>(description: string, words: Readonly<Record<Word, string>>) =>
  z
    .enum(Object.keys(words) as [Word, ...Word[]])
    .describe(
      [`${description}:`, ...Object.entries(words).map(([each, meaning]) => `- \`${each}\`: ${meaning}`)].join('\n'),
    );

/** JSON of any kind. */
export const anything = (description: string) => z.unknown().describe(description);

/** A JSON object of the caller's own. */
export const anyObject = (description: string) => z.unknown().meta({ type: 'object', description });
