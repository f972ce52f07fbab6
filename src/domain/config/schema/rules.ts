/** Building blocks of the configuration's schemas. Each rule has one message, which says what the value must be. */
import * as z from 'zod';
import { isNumberWithin, type NumberLimits } from '../../../util/limits.ts';
import type { Millis } from '../../ids.ts';
import { MINUTE } from '../../timings.ts';
import { DURATION_PATTERN, type Duration, parseDuration, printDuration } from '../duration.ts';

export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;

/** The largest number of characters of a text that a message quotes. */
const SHOWN = 60;

const kindOf = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
};

/** A value as a message shows it. Lists and objects appear by kind only, because they may contain anything. */
const show = (value: unknown): string => {
  if (typeof value === 'string') return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  if (typeof value === 'bigint') return `${value}n`;
  // JSON has neither NaN nor Infinity.
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
};

type Input = { readonly input?: unknown };

export const must = (be: string) => ({ error: ({ input }: Input) => `must be ${be}, not ${show(input)}` });

/** Like {@link must}, but shows only the kind of the value, which may be a secret in the wrong place. */
export const mustUnseen = (be: string) => ({ error: ({ input }: Input) => `must be ${be}, not ${kindOf(input)}` });

/**
 * A number within limits. Like every rule here it also puts its limits into its metadata, from which `tools/contract`
 * makes the published schema.
 */
const numberWithin = (limits: NumberLimits, be: string) =>
  z
    .custom<number>((value) => typeof value === 'number' && isNumberWithin(value, limits), must(be))
    .meta({ type: 'number', ...limits });

/** @param or an alternative value, appended to the message. */
export const whole = (minimum: number, maximum: number, or = '') =>
  // A single rule for all limits, so that a value gives one message even if it breaks several limits.
  numberWithin({ type: 'integer', minimum, maximum }, `a whole number from ${minimum} to ${maximum}${or}`);

export const number = (minimum: number, maximum: number, or = '') =>
  numberWithin({ minimum, maximum }, `a number from ${minimum} to ${maximum}${or}`);

/** A number that has to be above 0, however small. */
export const positive = (maximum: number, or = '') =>
  numberWithin({ exclusiveMinimum: 0, maximum }, `a number above 0 and at most ${maximum}${or}`);

export const duration = (least: Millis, most: Millis, or = '') => {
  const span = `from "${printDuration(least)}" to "${printDuration(most)}"`;
  const isWithin = (time: Millis | undefined): boolean => time !== undefined && time >= least && time <= most;
  return (
    z
      .custom<Duration>(
        (text) => typeof text === 'string' && isWithin(parseDuration(text)),
        must(`a duration ${span} (a number with ms, s, m, h or d)${or}`),
      )
      // A JSON Schema cannot express the span.
      .meta({ type: 'string', pattern: DURATION_PATTERN.source, description: `a duration ${span}` })
      .transform((text): Millis => parseDuration(text) ?? 0)
  );
};

/** @param be what the value must be, for the message about any other kind of value. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape, be = 'an object') =>
  z.strictObject(shape, mustUnseen(be));

/** Text that matches a pattern. @param problem the message: {@link must}, or {@link mustUnseen} */
export const formed = (pattern: RegExp, problem: ReturnType<typeof must>) =>
  z
    .custom<string>((value) => typeof value === 'string' && pattern.test(value), problem)
    .meta({ type: 'string', pattern: pattern.source });

export const text = (pattern: RegExp, be: string) => formed(pattern, must(be));

/** The default callback destination of fan-outs or lists. `configSchema` checks that a destination of that name exists. */
export const toldOtherwise = () =>
  z.string(mustUnseen('the name of a configured destination, or null for none')).nullable().default(null);

/**
 * Reports an invalid combination at the key that the user must change. The message names the other keys and their
 * values, which may be defaults.
 */
export const fault = (context: z.RefinementCtx, path: readonly string[], message: string): void =>
  context.addIssue({ code: 'custom', path: [...path], message });
