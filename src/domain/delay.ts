/** Waiting through SQS, which counts in whole seconds and up to fifteen minutes. */
import type { Millis } from './ids.ts';
import { MAX_DELAY } from './timings.ts';

/** A rest shorter than this is not worth a λ that sleeps: the message comes that much late. */
const TOLERATED_LATENESS: Millis = 200;

/**
 * The delay of a message that should be handled after `wait`. Rounds down, unless that would leave nearly a whole
 * second for the receiver to sleep.
 *
 * @returns whole seconds, 0 to 900; 0 asks the receiver to sleep the rest itself.
 */
export const delaySeconds = (wait: Millis): number =>
  Math.floor((Math.min(Math.max(wait, 0), MAX_DELAY) + TOLERATED_LATENESS) / 1_000);

/** The delay after which `moment` has surely passed, in whole seconds; a longer way is gone in hops of 900. */
export const delayPast = (moment: Millis, now: Millis): number =>
  Math.min(MAX_DELAY / 1_000, Math.max(1, Math.floor((moment - now) / 1_000) + 1));
