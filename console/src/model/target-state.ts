/** What a Target does at the moment, in a word. Pure. */
import type { TargetShape } from './shapes.ts';
import type { State } from './words.ts';

export const targetState = (
  { paused, openBatch, blocked, waiting, leader, inFlight }: TargetShape,
  now: number,
): State => {
  if (paused) return { tone: 'warn', word: 'paused' };
  if (openBatch) return { tone: 'busy', word: 'sealing' };
  if (blocked) return { tone: 'warn', word: 'no room' };
  if (waiting > 0 && leader && Date.parse(leader.lockedUntil) >= now) return { tone: 'busy', word: 'filling' };
  if (waiting > 0) return { tone: 'warn', word: 'no leader' };
  return inFlight && inFlight.length > 0 ? { tone: 'busy', word: 'in flight' } : { tone: 'idle', word: 'idle' };
};
