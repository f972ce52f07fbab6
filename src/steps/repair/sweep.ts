/**
 * Sweep, each minute: send dead letters again, later and later, see to slots, look after fan-outs, and patrol a slice
 * of the lock rows.
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

/** What is left of the function's time when the parts of the sweep end: each one's share is safe from those before it. */
const ENDS_WITH = { deadLetters: 0.6, slots: 0.35 } as const;
/** What the patrol leaves to the end of the function, in milliseconds. */
const RESERVE = 5_000;

/** Seconds: what fails again and again is tried more and more seldom. */
const growing = (revivals: number): number => Math.min(MAX_DELAY / 1_000, 2 ** revivals);

/** Sends the dead letters of one queue again, and gives up the events among them that are too old. */
export const sweepDeadLetters = (deps: DeadLetterDeps, queue: SourceQueue, walk: Walk): Promise<Walked> =>
  redriveDeadLetterQueue(deps, queue, walk, ({ body, revivals }) =>
    queue === 'callback' && isGivenUp(body, walk.began) ? 'give up' : growing(revivals),
  );

/**
 * All queues at once: a flood in one leaves time for the others, and an idle stack pays for one wait instead of many.
 *
 * @throws AggregateError of what failed, once everything has had its turn.
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
  // Slots first: Targets wait for them now.
  const swept = await Promise.allSettled([sweepSlots(deps, untilLeft(ENDS_WITH.slots))]);
  const mayGoOn = untilLeft(0);
  const patrolled = await Promise.allSettled([patrolFanOuts(deps, mayGoOn), patrol(deps, mayGoOn)]);
  const failures = [...revived, ...swept, ...patrolled].flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures, `sweep: ${failures.map(String).join('; ')}`);
};
