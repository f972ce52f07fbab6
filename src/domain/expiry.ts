/** When rows expire: what every store writes for the time to live, in whole seconds of the epoch, as DynamoDB counts. */
import type { Millis } from './ids.ts';
import { MINUTE, SECOND } from './timings.ts';

/** DynamoDB's time to live counts in seconds. */
export const expiresAt = (from: Millis, keep: Millis): number => Math.ceil((from + keep) / SECOND);

/**
 * What a lock row outlives its Target's last batch by: queues keep messages for 14 days, and a fence that began again
 * at 1 would repeat the ids of batches that are still kept.
 */
const LOCK_ROWS_OUTLIVE: Millis = 60 * 24 * 60 * MINUTE;

/** When the lock row of a Target expires that is led at `now`. @param keep how long its finished batches are kept */
export const lockExpiresAt = (now: Millis, keep: Millis): number => expiresAt(now, keep + LOCK_ROWS_OUTLIVE);
