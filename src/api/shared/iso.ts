import type { Millis } from '../../domain/ids.ts';

/** A moment as the HTTP API writes it. */
export const iso = (at: Millis): string => new Date(at).toISOString();
