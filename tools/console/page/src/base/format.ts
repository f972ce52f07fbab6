/** Numbers, times and amounts as people read them. Pure. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** @param isAtLeast it was counted no further. */
export const count = (value: number, isAtLeast = false): string =>
  `${value.toLocaleString('en', { maximumFractionDigits: 0 })}${isAtLeast ? '+' : ''}`;

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A rate: whole numbers from ten on, below that one digit more. */
export const rate = (value: number): string =>
  value === 0 ? '0' : value >= 9.95 ? count(Math.round(value)) : value < 0.05 ? '<0.1' : value.toFixed(1);

/** @param share 1 is the whole. What is not all is never said to be, nor what is something nothing. */
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

/** @param millis how long something took or lasts, in its two largest units at the most. */
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

/** Whole seconds, for what ticks. */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / SECOND));
  return seconds < 60 ? `${seconds} s` : duration(seconds * SECOND);
};

/** How long ago or ahead. */
export const relative = (at: number, now: number): string => {
  const gap = now - at;
  if (Math.abs(gap) < SECOND) return 'now';
  return gap > 0 ? `${age(gap)} ago` : `in ${age(-gap)}`;
};

const padded = (value: number): string => String(value).padStart(2, '0');

/** The time of day here, with the day where that is not today's. */
export const clock = (at: number, now: number): string => {
  const date = new Date(at);
  const time = `${padded(date.getHours())}:${padded(date.getMinutes())}:${padded(date.getSeconds())}`;
  return date.toDateString() === new Date(now).toDateString() ? time : `${day(date)} ${time}`;
};

const day = (date: Date): string => `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;

/** US dollars, as exact as small amounts want it. */
export const dollars = (value: number): string => `$${value >= 1 ? value.toFixed(2) : value.toFixed(4)}`;

/** What no shell takes for anything else. */
const PLAIN = /^[\w@%+=:,./…-]+$/;

/** A word of a command that somebody copies, as a POSIX shell reads it back: an address that somebody was sent may name anything. */
export const shellWord = (text: string): string => (PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
