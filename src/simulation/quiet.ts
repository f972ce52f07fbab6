/**
 * Months in which nothing happens: what comes back each minute, to find that nothing has changed, comes seldom then.
 *
 * The sweep would look 43,200 times a month, and a batch that a pause holds up as often. Half an hour after the last event, everything
 * that goes on by itself (retries, leases, visibility timeouts) has had its turns each minute; from then on waits grow, up to a day. A
 * schedule in which functions run that late may happen (SQS and EventBridge promise no time), so no promise about safety is checked
 * less. Nothing goes wrong then: what a fault does to a wait that is repeated is seen in the half hour before. What is lost are promises about time, which are not made here. It ends with the next event, before which every wait ends.
 */
import type { Millis } from '../batching/ids.ts';
import { MINUTE } from '../batching/timings.ts';
import type { Habits } from './habits.ts';
import type { Random } from './random.ts';

/** How long after an event everything goes on as it does. */
const BUSY: Millis = 30 * MINUTE;
const LONGEST: Millis = 24 * 60 * MINUTE;

/** How long nobody minds at a moment; 0 after the last event: then everything has to come to rest. */
export type Quiet = (now: Millis) => Millis;

export const neverQuiet: Quiet = () => 0;

/** @param events when something happens, by the clock. The first of them is the start. */
export const quietBetween = (events: readonly Millis[]): Quiet => {
  const sorted = events.toSorted((a, b) => a - b);
  return (now) => {
    const next = sorted.find((at) => at > now);
    const last = sorted.findLast((at) => at <= now);
    if (next === undefined || last === undefined || now - last < BUSY) return 0;
    return Math.min(next - now, (now - last) / 4, LONGEST);
  };
};

/** Messages that are delayed, or come back, are late in the quiet. */
export const lateInQuiet = (habits: Habits, random: Random, quiet: () => Millis): Habits => ({
  ...habits,
  overdue: (id) => habits.overdue(id) + random.int(0, Math.floor(quiet())),
  hiddenLonger: () => habits.hiddenLonger() + random.int(0, Math.floor(quiet())),
});
