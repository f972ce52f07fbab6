/** Sweep, each minute: send dead letters again, later and later, see to slots, and patrol a slice of the lock rows. */
import type { Invocation } from '../ports.ts';
import { reviveDeadLetters, WORKING_QUEUES } from './dead-letters.ts';
import type { Deps } from './deps.ts';
import { patrol } from './patrol.ts';
import { sweepSlots } from './sweep-slots.ts';
import { MAX_DELAY } from './timings.ts';

type SweepDeps = Pick<
  Deps,
  | 'config'
  | 'deadLetters'
  | 'waiting'
  | 'locks'
  | 'batches'
  | 'operations'
  | 'queues'
  | 'machine'
  | 'patrolMarks'
  | 'report'
>;

/** What the sweep leaves of its time to the patrol, and the patrol to the end of the function, in milliseconds. */
const RESERVE = 5_000;

/** Seconds: what fails again and again is tried more and more seldom. */
const growing = (revivals: number): number => Math.min(MAX_DELAY / 1_000, 2 ** revivals);

/**
 * All queues at once: a flood in one leaves time for the others, and an idle stack pays for one wait instead of four.
 *
 * @throws AggregateError of what failed, once everything has had its turn.
 */
export const sweep = async (deps: SweepDeps, invocation: Invocation): Promise<void> => {
  const walk = { began: deps.machine.now(), mayGoOn: () => invocation.timeLeft() > 2 * RESERVE };
  const revived = await Promise.allSettled(
    WORKING_QUEUES.map((queue) => reviveDeadLetters(deps, queue, walk, growing)),
  );
  const mayGoOn = (): boolean => invocation.timeLeft() > RESERVE;
  // Slots first: who waits for one waits now.
  const swept = await Promise.allSettled([sweepSlots(deps, mayGoOn)]);
  const patrolled = await Promise.allSettled([patrol(deps, mayGoOn)]);
  const failures = [...revived, ...swept, ...patrolled].flatMap((each) =>
    each.status === 'rejected' ? [each.reason] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures, `sweep: ${failures.map(String).join('; ')}`);
};
