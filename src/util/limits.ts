/**
 * Limits of fields, in the words of JSON Schema: what is published of a field (`tools/contract`) is what it is checked by. Pure.
 */

export interface TextLimits {
  readonly pattern?: RegExp;
  /** In UTF-16 code units, of which JSON Schema's characters have one or two. */
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface NumberLimits {
  readonly type?: 'integer';
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** What a schema says of limits. */
export const published = ({ pattern, ...limits }: TextLimits & NumberLimits): Record<string, unknown> => ({
  ...limits,
  ...(pattern === undefined ? {} : { pattern: pattern.source }),
});

const { POSITIVE_INFINITY: ANY } = Number;

/** Whether a text is within limits, and well-formed: half a surrogate pair could not be stored. */
export const isTextWithin = (text: string, { pattern = /^/, minLength = 0, maxLength = ANY }: TextLimits): boolean =>
  text.isWellFormed() && text.length >= minLength && text.length <= maxLength && pattern.test(text);

export const isNumberWithin = (
  value: number,
  { type, minimum = -ANY, exclusiveMinimum = -ANY, maximum = ANY }: NumberLimits,
): boolean =>
  value >= minimum && value > exclusiveMinimum && value <= maximum && (type === undefined || Number.isInteger(value));
