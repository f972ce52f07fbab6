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

/** A batch that is later than this has missed its reserved time. */
export const VOID_AFTER: Millis = 2_000;
/** Up to this wait a function sleeps: a message would hardly be faster. */
export const NAP: Millis = 1_000;

/** How far ahead a batch may reserve: when it is sealed, and at most, however long it waits. */
export const [LEAST_AHEAD, MOST_AHEAD]: readonly [Millis, Millis] = [60 * SECOND, 90 * SECOND];
/** After a wait of this length the reach is half-way between the two. */
const HALF_WAY: Millis = 10 * MINUTE;

/**
 * How far ahead a batch may reserve. The reach grows with the wait. While more batches wait than the queue has times
 * for, the queue ends about where only the oldest ones can still reach it, so the oldest ones go first.
 *
 * @param waited since when the batch waits for a call time, in milliseconds.
 */
export const reachOf = (waited: Millis): Millis => {
  const age = Math.max(0, waited);
  return LEAST_AHEAD + ((MOST_AHEAD - LEAST_AHEAD) * age) / (age + HALF_WAY);
};

/**
 * How long a batch sleeps, in seconds, that found no free time within its reach. It wakes before the queue that it saw
 * has ended, so never sleeps longer than {@link LEAST_AHEAD}. The sleep is random, so that the batches do not all try
 * again at once.
 */
export const sleepSeconds = (random: number): number => ((0.75 + random / 4) * LEAST_AHEAD) / SECOND;

/**
 * The next free call time, and the queue that includes it. A queue of another rate is void, but its last call may just
 * have been made, so the new queue begins up to one new gap later. A queue that is longer than the bounds allow is void
 * as well: release 0.2.0 had no bounds.
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
