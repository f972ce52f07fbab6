/**
 * The delay before a batch's next attempt: exponential backoff with full jitter, and `Retry-After`.
 * verification/batches/in-time.ts has the same bounds for the judge.
 */

import type { RetryPolicy } from '../config/policies.ts';
import type { Millis } from '../ids.ts';

/** The longest pause, in ms, that Groupage grants a downstream that sends `Retry-After`. */
export const RETRY_AFTER_MAX: Millis = 24 * 60 * 60 * 1_000;

/**
 * How long to wait after failed attempt number `attempt` (1 is the first).
 *
 * The delay is exponential with full jitter, so that batches that failed together are not retried together (Marc
 * Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). A pause that the downstream asks for is
 * waited in full, and the jitter is added to it, because many batches may have received the same `Retry-After`.
 *
 * @param random uniform in [0, 1).
 */
export const retryDelay = (policy: RetryPolicy, attempt: number, random: number, retryAfter: Millis = 0): Millis => {
  return Math.round(Math.min(retryAfter, RETRY_AFTER_MAX) + random * delayCeiling(policy, attempt));
};

/** 2 to a higher power is Infinity, which would give NaN for a `minDelay` of 0. */
const MAX_DOUBLINGS = 1_023;

/** The longest delay after failed attempt number `attempt`, without `Retry-After`. */
export const delayCeiling = ({ minDelay, maxDelay }: RetryPolicy, attempt: number): Millis =>
  Math.min(maxDelay, minDelay * 2 ** Math.min(attempt - 1, MAX_DOUBLINGS));

/**
 * The pause that a `Retry-After` header asks for (RFC 9110, 10.2.3: seconds, or a date).
 *
 * @returns milliseconds; undefined if there is no header or it cannot be read.
 */
export const parseRetryAfter = (header: string | null, now: Millis): Millis | undefined => {
  if (header === null) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000;
  // Every form of an HTTP date begins with its day. Without this check `Date.parse` would read "1.5" as a month.
  const date = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
};
