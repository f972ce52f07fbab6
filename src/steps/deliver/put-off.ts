/** After how long an event comes back. Pure. */
import type { Millis } from '../../domain/ids.ts';
import { MAX_DELAY, SECOND } from '../../domain/timings.ts';

/** Why an event was not delivered this time. */
export type Because =
  /** A call failed. */
  | 'failed'
  /** The destination is slow, and others deliver to it. */
  | 'no-slot'
  /** The destination is down, and is not called. */
  | 'circuit-open';

/** Seconds. A slot is free soon; what failed again and again is tried more and more seldom. */
const FIRST = { failed: 2, 'circuit-open': 30, 'no-slot': 30 } as const;
const MOST = { failed: MAX_DELAY / SECOND, 'circuit-open': MAX_DELAY / SECOND, 'no-slot': 60 } as const;

export interface Waits {
  readonly because: Because;
  /** How often the message was received, this time included. */
  readonly receives: number;
  /** How long the circuit stays open, in ms. */
  readonly closed: Millis;
}

/** In whole seconds, from 1 to 900. @param chance uniform in [0, 1): events that failed together should not come back together */
export const delayOf = ({ because, receives, closed }: Waits, chance: number): number => {
  const growing = Math.min(MOST[because], FIRST[because] * 2 ** Math.min(receives - 1, 20));
  const spread = Math.ceil(growing * (0.5 + chance / 2));
  return Math.min(MAX_DELAY / SECOND, Math.max(1, Math.ceil(closed / SECOND) + spread));
};
