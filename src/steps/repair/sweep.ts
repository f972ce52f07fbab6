/**
 * The sweep runs each minute. It sends dead letters again, frees and signals slots, and patrols fan-outs and a slice of
 * the lock rows. Each part has its own share of the time, so that an overload of one part does not stop the others
 * (Q2).
 */

import { isGivenUp } from '../../domain/callbacks/callback.ts';
import { MAX_DELAY } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { SourceQueue } from '../../ports/queues.ts';
import { reasonOf } from '../../util/problems.ts';
import type { DeadLetterDeps, SweepDeps } from '../deps.ts';
import { gaugeFanOuts } from '../fan-outs/gauge.ts';
import { patrolFanOuts } from '../fan-outs/patrol.ts';
import { gaugeLists } from '../lists/gauge.ts';
import { sweepSlots } from '../slots/sweep-slots.ts';
import { redriveDeadLetterQueue, sourceQueues, type Walk, type Walked } from './dead-letters.ts';
import { patrol } from './patrol.ts';

/**
 * For each part, the share of the function's time that must be left when the part stops. The patrol, which runs last,
 * uses the rest.
 */
const ENDS_WITH = { deadLetters: 0.6, slots: 0.35 } as const;
/** Every part stops at the latest this long before the function's timeout, in milliseconds. */
const RESERVE = 5_000;

/**
 * The delay with which a dead letter is sent again, in seconds. It doubles each time that the same message is sent
 * again.
 */
const growing = (revivals: number): number => Math.min(MAX_DELAY / 1_000, 2 ** revivals);

/** Sends the dead letters of one queue again, and moves events that are too old to the queue of given-up events. */
export const sweepDeadLetters = (deps: DeadLetterDeps, queue: SourceQueue, walk: Walk): Promise<Walked> =>
  redriveDeadLetterQueue(deps, queue, walk, ({ body, revivals }) =>
    queue === 'callback' && isGivenUp(body, walk.began) ? 'give up' : growing(revivals),
  );

/**
 * Runs all parts of the sweep. All dead-letter queues are handled at the same time. So a flood in one queue leaves time
 * for the others, and an idle stack pays for one wait instead of many.
 *
 * @throws AggregateError of all failures, after all parts have run.
 */
export const sweep = async (deps: SweepDeps, invocation: Invocation): Promise<void> => {
  const began = deps.machine.now();
  const time = invocation.timeLeft();
  const untilLeft = (share: number) => (): boolean => invocation.timeLeft() > Math.max(RESERVE, share * time);
  const isInTime = untilLeft(ENDS_WITH.deadLetters);
  const queues = sourceQueues(deps.config);
  const revived = await Promise.allSettled(
    queues.map((queue) => sweepDeadLetters(deps, queue, { began, mayGoOn: isInTime })),
  );
  const left = revived.filter((each) => each.status === 'fulfilled' && !each.value.isDone).length;
  if (left > 0 && !isInTime()) deps.report({ event: 'sweep-cut', part: 'dead-letters', left });
  // Free slots before the patrol, because Targets may be waiting for a slot now.
  const swept = await Promise.allSettled([
    sweepSlots(deps, untilLeft(ENDS_WITH.slots)),
    gaugeFanOuts(deps),
    gaugeLists(deps),
  ]);
  const mayGoOn = untilLeft(0);
  const patrolled = await Promise.allSettled([patrolFanOuts(deps, mayGoOn), patrol(deps, mayGoOn)]);
  const unsent = revived.flatMap((each, index) =>
    each.status === 'fulfilled' ? unsentIn(queues[index] as SourceQueue, each.value) : [],
  );
  const failures = [
    ...unsent,
    ...[...revived, ...swept, ...patrolled].flatMap((each) => (each.status === 'rejected' ? [each.reason] : [])),
  ];
  if (failures.length > 0) throw new AggregateError(failures, `sweep: ${failures.map(String).join('; ')}`);
};

/** An error if dead letters of a queue were not sent again. They stay in their queue, where no metric counts them. */
const unsentIn = (queue: SourceQueue, { failures }: Walked): Error[] => {
  if (failures.length === 0) return [];
  const first = reasonOf(failures[0]);
  return [
    new AggregateError(
      failures,
      `dead letters: ${failures.length} of the ${queue} queue could not be sent again (${first})`,
    ),
  ];
};
