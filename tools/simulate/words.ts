/** Figures as reports say them. */
import type { Millis } from '../../src/domain/ids.ts';

/** Three digits, and no more. */
const digits = (value: number): string =>
  value.toLocaleString('en', { maximumSignificantDigits: value < 1_000 ? 3 : Math.ceil(Math.log10(value + 1)) });

const UNITS: readonly (readonly [least: Millis, one: Millis, name: string])[] = [
  [2 * 86_400_000, 86_400_000, 'd'],
  [2 * 3_600_000, 3_600_000, 'h'],
  [120_000, 60_000, 'min'],
  [1_000, 1_000, 's'],
];

/** `250 ms`, `1.2 s`, `45 min`. */
export const span = (millis: Millis): string => {
  const [, one, name] = UNITS.find(([least]) => millis >= least) ?? [0, 1, 'ms'];
  return `${digits(millis / one)} ${name}`;
};

/** `1,234`. */
export const count = (value: number): string => digits(value < 1_000 ? value : Math.round(value));

/** `$0.0123`, `$0.40`, `$12.30`. */
export const dollars = (value: number): string =>
  `$${value.toLocaleString('en', value > 0 && value < 0.1 ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

/** `97%`. */
export const percent = (share: number): string => `${Math.round(share * 100)}%`;
