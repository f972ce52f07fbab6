/** Durations as text in configurations and messages. */
import type { Millis } from '../ids.ts';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole number and its unit: `"500ms"`, `"1s"`, `"5m"`, `"2h"`, `"30d"`. */
export type Duration = `${number}${keyof typeof UNITS}`;

export const DURATION_PATTERN = /^(\d{1,12})(ms|s|m|h|d)$/;

/** Milliseconds, or undefined if the text is not a duration. */
export const parseDuration = (text: string): Millis | undefined => {
  const [, amount, unit] = DURATION_PATTERN.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * UNITS[unit as keyof typeof UNITS];
};

/** Prints a duration in the largest unit that divides it. */
export const printDuration = (span: Millis): Duration => {
  const unit = (['d', 'h', 'm', 's'] as const).find((each) => span > 0 && span % UNITS[each] === 0) ?? 'ms';
  return `${span / UNITS[unit]}${unit}`;
};
