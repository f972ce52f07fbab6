/**
 * Limits of fields, in JSON Schema's words. A field is checked by the same limits that are published for it
 * (`tools/contract`). Pure.
 */

export interface TextLimits {
  readonly pattern?: RegExp;
  /** In UTF-16 code units. A character of JSON Schema has one or two code units. */
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface NumberLimits {
  readonly type?: 'integer';
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** The keywords of a JSON Schema for limits. */
export const published = ({ pattern, ...limits }: TextLimits & NumberLimits): Record<string, unknown> => ({
  ...limits,
  ...(pattern === undefined ? {} : { pattern: pattern.source }),
});

const { POSITIVE_INFINITY: ANY } = Number;

/** Whether a text is within limits, and well-formed: DynamoDB cannot store half a surrogate pair. */
export const isTextWithin = (text: string, { pattern = /^/, minLength = 0, maxLength = ANY }: TextLimits): boolean =>
  text.isWellFormed() && text.length >= minLength && text.length <= maxLength && pattern.test(text);

export const isNumberWithin = (
  value: number,
  { type, minimum = -ANY, exclusiveMinimum = -ANY, maximum = ANY }: NumberLimits,
): boolean =>
  value >= minimum && value > exclusiveMinimum && value <= maximum && (type === undefined || Number.isInteger(value));
