/** What surrounds the functions in a schedule: how many run at once, how slow their requests are, which operations may have to wait. */
import { type Millis, type OperationName, operationOf, type Target } from '../../src/domain/ids.ts';
import type { WorkingQueue } from '../../src/ports/queues.ts';
import type { Chaos } from '../../src/virtual/chaos.ts';
import type { Gate } from '../../src/virtual/gate.ts';
import { anyHabits, type Habits } from '../../src/virtual/habits.ts';
import { START } from '../../src/virtual/trace.ts';
import type { Configurations } from './configurations.ts';
import { lateInQuiet, neverQuiet, type Quiet } from './quiet.ts';
import type { Scenario } from './schedule.ts';
import { pollsNot, stoppedFor } from './stops.ts';

/** The queues as bad as SQS may be, and functions that are few, where a schedule says so. */
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

/** A gate through which each request takes longer. */
export const slowed = (gate: Gate, chaos: Chaos, most: Millis): Gate => {
  const random = chaos.chanceOf('slow requests');
  return async (call, effects) => {
    await chaos.scheduler.wait(random.int(0, most));
    return gate(call, effects);
  };
};

/** Operations whose batches may have to wait: for others, for their circuit, or for the end of a pause. */
export const waitFor = (configs: Configurations, { pauses = [] }: Scenario): ReadonlySet<OperationName> => {
  const limited = configs.all
    .flatMap(({ config }) => Object.values(config.operations))
    .filter(
      ({ concurrency: { perTarget, total }, circuit }) => perTarget !== null || total !== null || circuit !== null,
    );
  const paused = pauses.map(({ of }) => operationOf(of as Target));
  return new Set([...limited.map(({ operation }) => operation), ...paused]);
};

/** When something happens, from the start on: then nothing is quiet. */
export const momentsOf = (scenario: Scenario): readonly Millis[] => {
  const {
    sends,
    flushes,
    cancels = [],
    pauses = [],
    changes = [],
    redrives,
    purges,
    outages = [],
    stops = [],
    sendsAgain = [],
  } = scenario;
  return [
    0,
    scenario.faultsEnd,
    ...[...sends, ...flushes, ...cancels, ...changes, ...redrives].map(({ at }) => at),
    ...pauses.flatMap(({ at, lasts }) => [at, at + lasts]),
    ...[...outages, ...stops].flatMap(({ from, until }) => [from, until]),
    ...purges,
    ...sendsAgain,
  ];
};
