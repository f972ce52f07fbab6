/**
 * Whether JavaScript reads a JSON number exactly as it is written. It rounds a number with too many digits, so two
 * different numbers may become the same value.
 */
import { rawElements, rawMembers } from './json-text.ts';

/**
 * A shorter number without an exponent has at most 15 digits and a point, or 16 digits. A double keeps 15 decimal
 * digits, and integers up to 2^53.
 */
const MAY_BE_ROUNDED = /[\d.]{17}|\d[eE]/;

/** Whether a JSON text may contain a number that is rounded. False for most texts, at the cost of one scan. */
export const mayBeRounded = (text: string): boolean => MAY_BE_ROUNDED.test(text);

/**
 * Whether the number at a path in `text` equals the value that `JSON.parse` gives. Equal numbers may be written
 * differently (`1`, `1.0`, `1e0`).
 *
 * @param path leads to a number
 */
export const isReadExactly = (text: string, path: readonly string[]): boolean => {
  if (!mayBeRounded(text)) return true;
  const raw = path.reduce<string | undefined>(partOf, text);
  // The length of a list is not written.
  return raw === undefined || digitsOf(raw) === digitsOf(String(Number(raw)));
};

const partOf = (text: string | undefined, name: string): string | undefined => {
  if (text?.trimStart().startsWith('[')) return rawElements(text)[Number(name)];
  return text && rawMembers(text).get(name);
};

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The digits of a number without zeros around them, and its power of ten. */
const digitsOf = (number: string): string => {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  while (digits[from] === '0') from += 1;
  while (to > from && digits[to - 1] === '0') to -= 1;
  if (from === to) return NUMBER.test(number) ? '0' : number;
  return `${digits.slice(from, to)}e${Number(exponent) - fraction.length + digits.length - to}`;
};
