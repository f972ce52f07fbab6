/** How many invocations an event source lets take a queue's messages at once: a few, and more while messages wait. */
import type { Millis } from '../batching/ids.ts';
import { MINUTE } from '../batching/timings.ts';
import type { Pollers } from '../simulation/habits.ts';
import type { Surroundings } from './surroundings.ts';

/** @param now in virtual time @param onHandled is told how long each batch took */
export const pollersOf = (
  { pollers: { first, perMinute, most } }: Surroundings,
  now: () => Millis,
  onHandled: (took: Millis, messages: number) => void,
): Pollers => {
  let [allowed, askedAt] = [first, now()];
  return {
    mayTake: (inHand) => {
      const from = askedAt;
      askedAt = now();
      if (inHand < Math.floor(allowed)) return true;
      // All are busy and messages wait, or nobody would have asked.
      allowed = Math.min(most, allowed + ((askedAt - from) * perMinute) / MINUTE);
      return inHand < Math.floor(allowed);
    },
    handled: onHandled,
  };
};
