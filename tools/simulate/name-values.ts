/** Parses options of the form `name=value`, such as `rate=100/s targets=50`. */

import { parseDuration } from '../../src/domain/config/duration.ts';
import { nearest } from '../../src/domain/config/nearest.ts';
import type { Millis } from '../../src/domain/ids.ts';
import type { Parsed, Problem } from '../../src/util/problems.ts';

/** Parses a value. */
export interface Reader<T> {
  /** @returns undefined if the text is invalid. */
  readonly read: (text: string) => T | undefined;
  /** Description of valid values, after "takes" in a message. */
  readonly takes: string;
}

type Read<R> = { readonly [Name in keyof R]?: R[Name] extends Reader<infer T> ? T : never };

/** Parses `name=value` words. Unknown, repeated and invalid ones are problems. */
export const parseNameValues = <R extends Readonly<Record<string, Reader<unknown>>>>(
  text: string,
  readers: R,
): Parsed<Read<R>> => {
  const problems: Problem[] = [];
  const found: Record<string, unknown> = {};
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const [name = '', ...rest] = word.split('=');
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (!reader) problems.push({ path: name, reason: unknown(name, Object.keys(readers)) });
    else if (Object.hasOwn(found, name)) problems.push({ path: name, reason: 'is given twice' });
    else {
      found[name] = reader.read(rest.join('='));
      if (found[name] === undefined) problems.push({ path: name, reason: `takes ${reader.takes}` });
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: found as Read<R> };
};

const unknown = (name: string, known: readonly string[]): string => {
  const meant = nearest(name, known);
  return meant === undefined ? `is unknown; valid names: ${known.join(', ')}` : `is unknown; did you mean "${meant}"?`;
};

const SECONDS = { s: 1, m: 60, min: 60, h: 3_600, d: 86_400, day: 86_400 } as const;

/** Parses a decimal number. */
const numberIn = (text: string): number | undefined =>
  /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;

/** Parses a rate such as `100/s`, `6000/min` or `5/h` as a number per second. */
export const perSecondIn = (text: string): number | undefined => {
  const [, amount = '', unit] = /^(.+)\/(s|min|m|h|day|d)$/.exec(text) ?? [];
  const many = numberIn(amount);
  return many === undefined ? undefined : many / SECONDS[unit as keyof typeof SECONDS];
};

export const duration: Reader<Millis> = { read: parseDuration, takes: 'a duration such as 500ms, 5s or 10m' };

export const rate: Reader<number> = {
  read: (text) => perSecondIn(text),
  takes: 'a rate such as 100/s, 6000/min or 5/h',
};

/** Parses a number from `least` to `most`. */
export const within = (least: number, most: number): Reader<number> => ({
  read: (text) => atLeast(numberIn(text), least, most),
  takes: `a number from ${least} to ${most}`,
});

export const wholeWithin = (least: number, most: number): Reader<number> => ({
  read: (text) => (/^\d+$/.test(text) ? atLeast(Number(text), least, most) : undefined),
  takes: `a whole number from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`,
});

const atLeast = (value: number | undefined, least: number, most: number): number | undefined =>
  value !== undefined && value >= least && value <= most ? value : undefined;
