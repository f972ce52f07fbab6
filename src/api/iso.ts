import type { Millis } from '../batching/ids.ts';

/** A moment as the HTTP API writes it. */
export const iso = (at: Millis): string => new Date(at).toISOString();
