/** Functions that stand still: somebody switched their event source or their schedule off, or a deployment is broken. */
import type { Millis } from '../../src/domain/ids.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import type { Habits } from '../../src/virtual/habits.ts';

/** In ms from the start. */
export interface Stop {
  readonly from: Millis;
  readonly until: Millis;
  readonly of: readonly (WorkingQueue | 'sweep')[];
}

/** How long a function stands still from now on; 0 where it does not. @param now in ms from the start */
export const stoppedFor = (stops: readonly Stop[], of: Stop['of'][number], now: Millis): Millis =>
  Math.max(0, ...stops.filter((each) => each.of.includes(of) && each.from <= now).map(({ until }) => until - now));

/** Nobody polls meanwhile. */
export const pollsNot = (habits: Habits, stopped: () => Millis): Habits => ({
  ...habits,
  untilPoll: () => stopped() + habits.untilPoll(),
});
