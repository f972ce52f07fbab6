/** How many invocations an event source lets take a queue's messages at once: a few, and more while messages wait. */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import type { Pollers } from '../../src/virtual/habits.ts';
import type { Surroundings } from './surroundings.ts';

interface Around {
  /** In virtual time. */
  readonly now: () => Millis;
  /** Messages of the queue that sleep. */
  readonly sleepers: () => number;
  /** Is told how long each batch took. */
  readonly onHandled: (took: Millis, messages: number) => void;
}

export const pollersOf = (
  { pollers: { first, perMinute, most, countSleepers } }: Surroundings,
  { now, sleepers, onHandled }: Around,
): Pollers => {
  let [allowed, askedAt] = [first, now()];
  const isFree = (inHand: number): boolean => inHand - (countSleepers ? 0 : sleepers()) < Math.floor(allowed);
  return {
    mayTake: (inHand) => {
      const from = askedAt;
      askedAt = now();
      if (isFree(inHand)) return true;
      // All are busy and messages wait, or nobody would have asked.
      allowed = Math.min(most, allowed + ((askedAt - from) * perMinute) / MINUTE);
      return isFree(inHand);
    },
    handled: onHandled,
  };
};
