/** What a Target does at the moment, in a word. Pure. */
import type { TargetShape } from './shapes.ts';
import type { State } from './words.ts';

/** For so long a message that makes a leader may be on its way (ms). */
const ON_ITS_WAY = 20_000;

export const targetState = (
  { paused, openBatch, blocked, waiting, oldestAt, leader, inFlight }: TargetShape,
  now: number,
): State => {
  if (paused) return { tone: 'warn', word: 'paused' };
  if (openBatch) return { tone: 'busy', word: 'sealing' };
  if (blocked) return { tone: 'warn', word: 'no room' };
  if (waiting > 0 && leader && Date.parse(leader.lockedUntil) >= now) return { tone: 'busy', word: 'filling' };
  if (waiting > 0)
    return now - Date.parse(oldestAt ?? '') > ON_ITS_WAY
      ? { tone: 'warn', word: 'no leader' }
      : { tone: 'busy', word: 'waiting' };
  return inFlight && inFlight.length > 0 ? { tone: 'busy', word: 'in flight' } : { tone: 'idle', word: 'idle' };
};
