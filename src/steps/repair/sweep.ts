/**
 * The sweep runs each minute. It sends dead letters again, frees and signals slots, and patrols fan-outs and a slice of
 * the lock rows. Targets wait for slots now, so slots come before the patrol. Each part has its own share of the time,
 * so an overload of one part does not stop the others (Q2).
 */

import { isGivenUp } from '../../domain/callbacks/callback.ts';
import { MAX_DELAY } from '../../domain/timings.ts';
import type { Invocation } from '../../ports/machine.ts';
import type { SourceQueue } from '../../ports/queues.ts';
import type { DeadLetterDeps, SweepDeps } from '../deps.ts';
import { patrolFanOuts } from '../fan-outs/patrol.ts';
import { sweepSlots } from '../slots/sweep-slots.ts';
import { redriveDeadLetterQueue, sourceQueues, type Walk, type Walked } from './dead-letters.ts';
import { patrol } from './patrol.ts';

/** The share of the function's time that is left when each part ends. */
const ENDS_WITH = { deadLetters: 0.6, slots: 0.35 } as const;
/** Time that the patrol leaves before the function's timeout, in milliseconds. */
const RESERVE = 5_000;

/** Delay in seconds. It doubles with each redrive. */
const growing = (revivals: number): number => Math.min(MAX_DELAY / 1_000, 2 ** revivals);

/** Sends the dead letters of one queue again, and moves events that are too old to the queue of given-up events. */
export const sweepDeadLetters = (deps: DeadLetterDeps, queue: SourceQueue, walk: Walk): Promise<Walked> =>
  redriveDeadLetterQueue(deps, queue, walk, ({ body, revivals }) =>
    queue === 'callback' && isGivenUp(body, walk.began) ? 'give up' : growing(revivals),
  );

/**
 * Runs all parts of the sweep. The queues are handled at once: a flood in one leaves time for the others, and an idle
 * stack pays for one wait instead of many.
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
  // Slots before the patrol: Targets wait for them now.
  const swept = await Promise.allSettled([sweepSlots(deps, untilLeft(ENDS_WITH.slots))]);
  const mayGoOn = untilLeft(0);
  const patrolled = await Promise.allSettled([patrolFanOuts(deps, mayGoOn), patrol(deps, mayGoOn)]);
  const failures = [...revived, ...swept, ...patrolled].flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures, `sweep: ${failures.map(String).join('; ')}`);
};
