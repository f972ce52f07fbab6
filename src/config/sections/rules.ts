/** What the sections of a configuration are made of: each rule says in one sentence what a value must be. */
import * as z from 'zod';
import type { Millis } from '../../batching/ids.ts';
import { MINUTE } from '../../batching/timings.ts';
import { type Duration, parseDuration, printDuration } from '../duration.ts';

export const HOUR: Millis = 60 * MINUTE;
export const DAY: Millis = 24 * HOUR;

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

export const must = (be: string) => ({
  error: ({ input }: { input?: unknown }) => `must be ${be}, not ${show(input)}`,
});

const within = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;

export const whole = (least: number, most: number) =>
  // One rule, one problem: whatever is wrong with it.
  z.custom<number>(
    (value) => Number.isInteger(value) && within(value, least, most),
    must(`a whole number from ${least} to ${most}`),
  );

export const number = (least: number, most: number) =>
  z.custom<number>((value) => within(value, least, most), must(`a number from ${least} to ${most}`));

export const duration = (least: Millis, most: Millis) => {
  const rule = `a duration from "${printDuration(least)}" to "${printDuration(most)}", such as "500ms", "1s", "5m", "2h" or "30d"`;
  return z
    .custom<Duration>((text) => typeof text === 'string' && within(parseDuration(text), least, most), must(rule))
    .transform((text): Millis => parseDuration(text) ?? 0);
};

export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.strictObject(shape, must('an object'));

export const text = (pattern: RegExp, be: string) =>
  z.custom<string>((value) => typeof value === 'string' && pattern.test(value), must(be));

/** A fault of how values go together, at the one that has to change. */
export const fault = (context: z.RefinementCtx, path: readonly string[], message: string): void =>
  context.addIssue({ code: 'custom', path: [...path], message });
