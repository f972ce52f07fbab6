/** The trace of a schedule: a short line for each event. */
import type { Millis } from '../domain/ids.ts';

/** The virtual time at which every schedule begins. A trace shows its times relative to this moment. */
export const START: Millis = Date.UTC(2026, 0, 1);

const DAY: Millis = 24 * 3_600_000;

/** Prints a duration, in seconds. */
export const seconds = (span: Millis): string => (span / 1_000).toFixed(3);

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** Whether a line shows a poll of an empty queue. Such lines make up most of a trace and carry no information. */
const isIdle = (line: string): boolean => line.endsWith('deadLetters.receive → []');

/** A trace for readers: without polls of empty queues, and with long lines cut. */
export const readable = (trace: readonly string[]): string =>
  trace
    .filter((line) => !isIdle(line))
    .map((line) => cut(line, 240))
    .join('\n');

/**
 * Prints a value for a line of the trace. Moments become seconds since {@link START}, long texts are cut, and names
 * have no quotation marks.
 */
export const brief = (value: unknown): string => {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'number')
    return Math.abs(value - START) < 30 * DAY ? `@${seconds(value - START)}` : String(value);
  if (typeof value === 'string')
    return cut(
      value.replace(/^\d{13}(?=#)/, (at) => brief(Number(at))),
      60,
    );
  if (typeof value !== 'object') return String(value);
  if (value instanceof Map) return brief(Object.fromEntries(value));
  if (Array.isArray(value)) return `[${value.map(brief).join(', ')}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${name} ${brief(field)}`).join(', ')}}`;
};
