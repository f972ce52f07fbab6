/** By how much this machine's clock differs from that of whoever answers. */
import type { Millis } from '../../src/domain/ids.ts';

/** What an HTTP date leaves out. */
const RESOLUTION: Millis = 1_000;

/**
 * Positive where this machine is ahead; 0 where the answer shows no difference: its `Date` has whole seconds, and was
 * written at some moment between asking and hearing. Undefined without one. Pure.
 */
export const skewOf = (date: string | null, asked: Millis, heard: Millis): Millis | undefined => {
  const written = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(written)) return undefined;
  if (asked > written + RESOLUTION) return asked - written - RESOLUTION;
  if (heard < written) return heard - written;
  return 0;
};
