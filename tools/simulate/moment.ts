/** When a task of a trace was sent, as traces say it. */
import type { Millis } from '../../src/domain/ids.ts';

/** So many seconds after 1970 are the year 5138: what is more is milliseconds. */
const MILLIS_FROM = 100_000_000_000;

const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/;

export const TIME_RULE =
  'must be a moment such as "2026-03-01T08:00:00.250Z", or a number of seconds (from 100,000,000,000 on: of milliseconds since 1970)';

/** Milliseconds since 1970, or since any beginning; without a zone a moment is UTC. Undefined for what is no time. */
export const momentOf = (time: unknown): Millis | undefined => {
  if (typeof time === 'number') return fromNumber(time);
  if (typeof time !== 'string') return undefined;
  const text = time.trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return fromNumber(Number(text));
  const [, day, clock, zone = 'Z'] = ISO.exec(text) ?? [];
  if (day === undefined) return undefined;
  const moment = Date.parse(`${day}T${clock}${zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(moment) ? undefined : moment;
};

const fromNumber = (value: number): Millis | undefined => {
  if (!Number.isFinite(value) || value < 0) return undefined;
  // Whole ones: 0.1 + 0.2 s would be before 300 ms otherwise.
  return Math.round(value >= MILLIS_FROM ? value : value * 1_000);
};
