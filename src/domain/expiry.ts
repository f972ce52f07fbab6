/**
 * Computes when rows expire. All stores compute it here, because DynamoDB expects the time to live in whole seconds
 * since the epoch.
 */
import type { Millis } from './ids.ts';
import { MINUTE, SECOND } from './timings.ts';

/** The expiry, in seconds since the epoch, of a row that is stored for `keep` ms from `from` on. */
export const expiresAt = (from: Millis, keep: Millis): number => Math.ceil((from + keep) / SECOND);

/**
 * How long a lock row outlives its Target's last batch. Queues keep messages for 14 days, and a fence that began again
 * at 1 would repeat the ids of batches that are still stored.
 */
const LOCK_ROWS_OUTLIVE: Millis = 60 * 24 * 60 * MINUTE;

/**
 * The expiry of the lock row of a Target that has a leader at `now`. @param keep how long finished batches are stored
 */
export const lockExpiresAt = (now: Millis, keep: Millis): number => expiresAt(now, keep + LOCK_ROWS_OUTLIVE);
