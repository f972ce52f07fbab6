import type { Millis } from '../../domain/ids.ts';

/** A time as the HTTP API writes it: ISO 8601 in UTC. */
export const iso = (at: Millis): string => new Date(at).toISOString();
