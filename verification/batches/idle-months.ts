/**
 * Months without events. The sweep and other steps that run each minute would run 43,200 times a month and find no
 * change, so they run seldom in that time.
 *
 * For half an hour after an event everything happens as often as in an account: retries, leases, visibility timeouts,
 * the sweep. From then until the next event, delays grow up to a day, and no faults are injected. SQS and EventBridge
 * guarantee no times, so such a schedule is possible. All promises about safety are checked in it, and promises about
 * time are not.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Habits } from '../../src/virtual/habits.ts';
import type { Random } from '../../src/virtual/random.ts';

/** How long after an event everything happens at its usual pace. */
const BUSY: Millis = 30 * MINUTE;
const LONGEST: Millis = 24 * 60 * MINUTE;

/**
 * The most by which a delay that begins at `now` may be late, in ms. It is 0 after the last event, so that the schedule
 * comes to rest.
 */
export type Quiet = (now: Millis) => Millis;

export const neverQuiet: Quiet = () => 0;

/** Makes delays late between events. @param events the moments of events; the first one is the start */
export const quietBetween = (events: readonly Millis[]): Quiet => {
  const sorted = events.toSorted((a, b) => a - b);
  return (now) => {
    const next = sorted.find((at) => at > now);
    const last = sorted.findLast((at) => at <= now);
    if (next === undefined || last === undefined || now - last < BUSY) return 0;
    return Math.min(next - now, (now - last) / 4, LONGEST);
  };
};

/** Makes delayed and redelivered messages arrive late in a quiet time. */
export const lateInQuiet = (habits: Habits, random: Random, quiet: () => Millis): Habits => ({
  ...habits,
  overdue: (id) => habits.overdue(id) + random.int(0, Math.floor(quiet())),
  hiddenLonger: () => habits.hiddenLonger() + random.int(0, Math.floor(quiet())),
});
