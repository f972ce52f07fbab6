/**
 * When an operation's next call may be made under its `rateLimit`. Pure.
 *
 * The operation's row stores the end of a queue of reserved call times. Three rules keep outdated reservations from
 * delaying calls:
 * - The queue reaches no further into the future than {@link MOST_AHEAD}. A batch that finds no free time within its
 *   reach sleeps and tries again.
 * - The queue belongs to the rate that it was made for. Under another rate a new queue begins.
 * - A reserved time is valid only in the queue in which it was reserved.
 */
import type { Millis } from '../ids.ts';
import { CLOCK_SKEW, MINUTE, SECOND } from '../timings.ts';
import type { CallLine } from './slots.ts';

/** How late, in ms, a batch may use its reserved call time. After that, the reservation is void. */
export const VOID_AFTER: Millis = 2_000;
/** Longest wait, in ms, for which a function sleeps. A delayed message would hardly be faster. */
export const NAP: Millis = 1_000;

/** How far ahead a batch may reserve a call time: directly after it is sealed, and at most, even after a long wait. */
export const [LEAST_AHEAD, MOST_AHEAD]: readonly [Millis, Millis] = [60 * SECOND, 90 * SECOND];
/** After a wait of this length, the reach is half-way between `LEAST_AHEAD` and `MOST_AHEAD`. */
const HALF_WAY: Millis = 10 * MINUTE;

/**
 * How far ahead a batch may reserve. The reach grows with the wait. If more batches wait than the queue has call times,
 * only the batches that have waited longest can reach the end of the queue, so these batches are called first.
 *
 * @param waited since when the batch waits for a call time, in milliseconds.
 */
export const reachOf = (waited: Millis): Millis => {
  const age = Math.max(0, waited);
  return LEAST_AHEAD + ((MOST_AHEAD - LEAST_AHEAD) * age) / (age + HALF_WAY);
};

/**
 * How long, in seconds, a batch sleeps that found no free call time within its reach. The sleep is never longer than
 * {@link LEAST_AHEAD}, so the batch wakes before the queue that it read has ended. The sleep is random, so that the
 * batches do not all try again at once.
 */
export const sleepSeconds = (random: number): number => ((0.75 + random / 4) * LEAST_AHEAD) / SECOND;

/**
 * The next free call time, and the queue that includes it. A queue that was made for another rate is void. Its last
 * call may just have been made, so the new queue begins up to one gap of the new rate later. A queue that is longer
 * than the bounds allow is void as well: release 0.2.0 had no bounds.
 *
 * @param rate calls per second.
 */
export const nextMoment = (
  line: CallLine | undefined,
  now: Millis,
  rate: number,
): { readonly at: Millis; readonly line: CallLine } => {
  const gap = Math.ceil(1_000 / rate);
  const end = line?.next ?? 0;
  const isOurs = line?.rate === rate && end <= now + MOST_AHEAD + gap + 2 * CLOCK_SKEW;
  const at = Math.max(now, isOurs ? end : Math.min(end, now + gap));
  return {
    at,
    line: { next: at + gap, rate, since: isOurs && line.since !== undefined ? line.since : Math.floor(now) },
  };
};

/** The time that a message has reserved, if it is still valid: in the current queue and under the current rate. */
export const reservedIn = (
  { at, line: since }: { readonly at?: Millis | undefined; readonly line?: Millis | undefined },
  line: CallLine | undefined,
  rate: number,
  now: Millis,
): Millis | undefined => {
  const isOurs = since !== undefined && since === line?.since && line.rate === rate;
  return isOurs && at !== undefined && now <= at + VOID_AFTER ? at : undefined;
};
