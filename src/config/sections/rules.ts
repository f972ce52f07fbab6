/** What the sections of a configuration are made of: each rule says in one sentence what a value must be. */
import * as z from 'zod';
import type { Millis } from '../../batching/ids.ts';
import { MINUTE } from '../../batching/timings.ts';
import { type Duration, parseDuration, printDuration } from '../duration.ts';

export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;

/** As much of a text as a sentence has room for. */
const SHOWN = 60;

const kindOf = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};

/** What a sentence can have of a value: of lists and objects only that they are, since anything may be in them. */
const show = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  if (typeof value === 'bigint') return `${value}n`;
  // Not as JSON, which knows neither NaN nor Infinity.
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
};

type Input = { readonly input?: unknown };

export const must = (be: string) => ({ error: ({ input }: Input) => `must be ${be}, not ${show(input)}` });

/** For what may be a secret in the wrong place: only what kind of thing it is is said. */
export const mustUnseen = (be: string) => ({ error: ({ input }: Input) => `must be ${be}, not ${kindOf(input)}` });

const within = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;

/** @param or what may stand there instead, for the sentence. */
export const whole = (least: number, most: number, or = '') =>
  // One rule, one problem: whatever is wrong with it.
  z.custom<number>(
    (value) => Number.isInteger(value) && within(value, least, most),
    must(`a whole number from ${least} to ${most}${or}`),
  );

export const number = (least: number, most: number, or = '') =>
  z.custom<number>((value) => within(value, least, most), must(`a number from ${least} to ${most}${or}`));

export const duration = (least: Millis, most: Millis, or = '') => {
  const rule = `a duration from "${printDuration(least)}" to "${printDuration(most)}", such as "500ms", "1s", "5m", "2h" or "30d"${or}`;
  return z
    .custom<Duration>((text) => typeof text === 'string' && within(parseDuration(text), least, most), must(rule))
    .transform((text): Millis => parseDuration(text) ?? 0);
};

/** @param be what it must be, with the way out for whoever wrote something else. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape, be = 'an object') =>
  z.strictObject(shape, mustUnseen(be));

export const text = (pattern: RegExp, be: string) =>
  z.custom<string>((value) => typeof value === 'string' && pattern.test(value), must(be));

/** Who is told where nobody is named; whether there is one of that name is a matter of the whole configuration. */
export const toldOtherwise = () =>
  z.string(mustUnseen('the name of a configured destination, or null for nobody')).nullable().default(null);

/**
 * A fault of how values go together, at the one that has to change; the sentence tells the others, which may be
 * defaults.
 */
export const fault = (context: z.RefinementCtx, path: readonly string[], message: string): void =>
  context.addIssue({ code: 'custom', path: [...path], message });
