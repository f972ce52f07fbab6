/**
 * How the queues of a schedule behave, and the functions that poll them: how many invocations run at once, when
 * functions stand still, and when months pass.
 */
import type { Millis } from '../../src/domain/ids.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import { anyHabits, type Habits } from '../../src/virtual/habits.ts';
import { START } from '../../src/virtual/trace.ts';
import { lateInQuiet, neverQuiet, type Quiet } from './idle-months.ts';
import type { Scenario, Stop } from './scenario.ts';

/**
 * Queues with every fault that SQS allows. The number of concurrent invocations is limited if the scenario limits it.
 */
export const habitsOf =
  (chaos: Chaos, { functionsAtOnce, stops = [] }: Scenario, quiet: Quiet) =>
  (queue: WorkingQueue): Habits => {
    const { scheduler } = chaos;
    const stopped = (): Millis => stoppedFor(stops, queue, scheduler.now - START);
    const polls = stops.length > 0 ? pollsNot(anyHabits(chaos, queue), stopped) : anyHabits(chaos, queue);
    const late = chaos.chanceOf(`${queue} queue in the quiet`);
    const habits = quiet === neverQuiet ? polls : lateInQuiet(polls, late, () => quiet(scheduler.now));
    if (functionsAtOnce === undefined || queue === 'batch') return habits;
    return { ...habits, pollers: { mayTake: (inHand) => inHand < functionsAtOnce, handled: () => {} } };
  };

/** How long a function will still stand still, in ms; 0 if the function is running. @param now in ms from the start */
export const stoppedFor = (stops: readonly Stop[], of: Stop['of'][number], now: Millis): Millis =>
  Math.max(0, ...stops.filter((each) => each.of.includes(of) && each.from <= now).map(({ until }) => until - now));

/** Habits of a queue that is not polled while its function stands still. */
const pollsNot = (habits: Habits, stopped: () => Millis): Habits => ({
  ...habits,
  untilPoll: () => stopped() + habits.untilPoll(),
});
