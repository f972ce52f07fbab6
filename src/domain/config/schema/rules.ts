/** What the sections of a configuration are made of: each rule says in one sentence what a value must be. */
import * as z from 'zod';
import { isNumberWithin, type NumberLimits } from '../../../util/limits.ts';
import type { Millis } from '../../ids.ts';
import { MINUTE } from '../../timings.ts';
import { DURATION_PATTERN, type Duration, parseDuration, printDuration } from '../duration.ts';

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

/**
 * A number within limits. Like every rule of ours it says in its metadata what it takes: that is the published schema
 * (`tools/contract`).
 */
const numberWithin = (limits: NumberLimits, be: string) =>
  z
    .custom<number>((value) => typeof value === 'number' && isNumberWithin(value, limits), must(be))
    .meta({ type: 'number', ...limits });

/** @param or what may stand there instead, for the sentence. */
export const whole = (minimum: number, maximum: number, or = '') =>
  // One rule, one problem: whatever is wrong with it.
  numberWithin({ type: 'integer', minimum, maximum }, `a whole number from ${minimum} to ${maximum}${or}`);

export const number = (minimum: number, maximum: number, or = '') =>
  numberWithin({ minimum, maximum }, `a number from ${minimum} to ${maximum}${or}`);

export const duration = (least: Millis, most: Millis, or = '') => {
  const span = `from "${printDuration(least)}" to "${printDuration(most)}"`;
  const isWithin = (time: Millis | undefined): boolean => time !== undefined && time >= least && time <= most;
  return (
    z
      .custom<Duration>(
        (text) => typeof text === 'string' && isWithin(parseDuration(text)),
        must(`a duration ${span}, such as "500ms", "1s", "5m", "2h" or "30d"${or}`),
      )
      // The span is beyond a schema's words.
      .meta({ type: 'string', pattern: DURATION_PATTERN.source, description: `a duration ${span}` })
      .transform((text): Millis => parseDuration(text) ?? 0)
  );
};

/** @param be what it must be, with the way out for whoever wrote something else. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape, be = 'an object') =>
  z.strictObject(shape, mustUnseen(be));

/** Text of a form. @param problem says what it must be: {@link must}, or {@link mustUnseen} */
export const formed = (pattern: RegExp, problem: ReturnType<typeof must>) =>
  z
    .custom<string>((value) => typeof value === 'string' && pattern.test(value), problem)
    .meta({ type: 'string', pattern: pattern.source });

export const text = (pattern: RegExp, be: string) => formed(pattern, must(be));

/** Who is told where nobody is named; whether there is one of that name is a matter of the whole configuration. */
export const toldOtherwise = () =>
  z.string(mustUnseen('the name of a configured destination, or null for nobody')).nullable().default(null);

/**
 * A fault of how values go together, at the one that has to change; the sentence tells the others, which may be
 * defaults.
 */
export const fault = (context: z.RefinementCtx, path: readonly string[], message: string): void =>
  context.addIssue({ code: 'custom', path: [...path], message });
