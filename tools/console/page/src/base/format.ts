/** Formats numbers, times and amounts for people. Pure. */
import { lowerBound, shortLowerBound } from '../../../../lower-bounds.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `1,847`, or `at least 1,847`. @param isAtLeast whether the true number may be larger. */
export const count = lowerBound;

/** Like {@link count}, for places with little room: `≥ 1,847`. {@link spoken} is for screen readers. */
export const shortCount = shortLowerBound;

/** A text with short lower bounds, in the words that a screen reader reads aloud. */
export const spoken = (text: string): string =>
  text.replaceAll('≥ ', 'at least ').replaceAll('?', 'an unknown number of');

/** A text that begins a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** Formats a rate: as a whole number from 10 on, and with one decimal below 10. */
export const rate = (value: number): string =>
  value === 0 ? '0' : value >= 9.95 ? count(Math.round(value)) : value < 0.05 ? '<0.1' : value.toFixed(1);

/** @param share 1 is the whole. Only exactly 1 is shown as 100%, and only exactly 0 as 0%. */
export const percent = (share: number): string => {
  const value = Math.round(share * 100);
  if (value === 100 && share < 1) return '99%';
  if (value === 0 && share > 0) return '<1%';
  return `${value}%`;
};

export const bytes = (value: number): string =>
  value < 1_024
    ? `${value} B`
    : value < 1_024 * 1_024
      ? `${(value / 1_024).toFixed(1)} KB`
      : `${(value / 1_024 / 1_024).toFixed(1)} MB`;

/** Formats a duration in its two largest units. @param millis the duration, in milliseconds. */
export const duration = (millis: number): string => {
  if (millis < 0) return '0 s';
  if (millis < SECOND) return `${Math.round(millis)} ms`;
  if (millis < 10 * SECOND) return `${(millis / SECOND).toFixed(1)} s`;
  if (millis < MINUTE) return `${Math.floor(millis / SECOND)} s`;
  if (millis < HOUR) return two(millis, MINUTE, 'min', SECOND, 's');
  if (millis < DAY) return two(millis, HOUR, 'h', MINUTE, 'min');
  return two(millis, DAY, 'd', HOUR, 'h');
};

const two = (millis: number, large: number, name: string, small: number, smallName: string): string => {
  const rest = Math.floor((millis % large) / small);
  return `${Math.floor(millis / large)} ${name}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
};

/**
 * Formats a duration, in whole seconds below a minute. For displays that are updated continuously. @param millis the
 * duration, in milliseconds.
 */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / SECOND));
  return seconds < 60 ? `${seconds} s` : duration(seconds * SECOND);
};

/** How long ago a time was, or how far it is in the future. */
export const relative = (at: number, now: number): string => {
  const gap = now - at;
  if (Math.abs(gap) < SECOND) return 'now';
  return gap > 0 ? `${age(gap)} ago` : `in ${age(-gap)}`;
};

const padded = (value: number): string => String(value).padStart(2, '0');

/** The local time of day, with the date if the date is not today. */
export const clock = (at: number, now: number): string => {
  const date = new Date(at);
  const time = `${padded(date.getHours())}:${padded(date.getMinutes())}:${padded(date.getSeconds())}`;
  return date.toDateString() === new Date(now).toDateString() ? time : `${day(date)} ${time}`;
};

const day = (date: Date): string => `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;

/** US dollars, with two decimals from $1 on and with four decimals below $1. */
export const dollars = (value: number): string => `$${value >= 1 ? value.toFixed(2) : value.toFixed(4)}`;

/** Matches words that contain only characters that no shell interprets. */
const PLAIN = /^[\w@%+=:,./…-]+$/;

/**
 * Quotes a word of a command for a POSIX shell. A user may copy the command, and a link that the user received may
 * contain any text.
 */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** A value as text, or a dash if there is none. */
export const orDash = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? '–' : format(value);
