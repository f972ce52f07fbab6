/**
 * Promises about sweeps in schedules without faults. Each sweep ends in time and reaches its patrol, which runs last.
 * The patrol finds Targets that are missing in the slot queue.
 */
import { isHeld } from '../../src/domain/batches/lock.ts';
import type { Millis, Target } from '../../src/domain/ids.ts';
import type { WaitingTarget } from '../../src/domain/operations/slots.ts';
import { GRACE, MINUTE } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Locks } from '../../src/ports/locks.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence, SeenSweep } from './evidence.ts';

/** Locks that record in `sweep` that the patrol reads Targets. */
export const notingPatrol = (locks: Locks, sweep: SeenSweep): Locks => ({
  ...locks,
  targets: (...asked) => {
    sweep.hasPatrolled = true;
    return locks.targets(...asked);
  },
});

/**
 * The extra time of a request, in ms, with which a sweep may exceed its own time. A page of Targets needs several
 * requests one after another, which must end within the seconds that a sweep reserves.
 */
const SLOW: Millis = 500;

/** A sweep must reach its patrol, however slow the sweep's requests are. @throws Violation */
export const checkSweeps = ({ seen: { sweeps } }: Evidence): void => {
  // The last sweep may still be running.
  for (const [minute, { hasEnded, hasPatrolled, slowness }] of sweeps.slice(0, -1).entries()) {
    demand(hasEnded || slowness > SLOW, 'a sweep ends within its timeout', { minute });
    demand(hasPatrolled, 'every sweep reaches its patrol', { minute });
  }
};

/** Lock rows that the patrol reads in each minute. */
export const PATROLLED_AT_ONCE = 100;

/**
 * Each call of the returned function searches all Targets for forgotten ones. A forgotten Target waits for a free slot
 * but has no row in the slot queue, because the message that should have woken it was lost. Only the patrol finds such
 * a Target.
 *
 * @returns the longest time for which a Target has been forgotten, in ms, without the time in which the elect function
 * or the sweep stands still
 */
export const watchForgotten = (tables: Tables): ((now: Millis, isStopped: boolean) => Millis) => {
  // The fence is stored too: if it differs at the next call, a leader ran in between, and the time starts again.
  const since = new Map<Target, { readonly fence: number; readonly at: Millis }>();
  return (now, isStopped) => {
    if (isStopped) {
      since.clear();
      return 0;
    }
    const known = new Set([...tables.waitingTargets.values()].flatMap((rows) => [...rows.values()].map(keyOf)));
    for (const [target, lock] of tables.locks) {
      const { blocked, fence, paused } = lock;
      const isSeenTo = blocked === undefined || paused !== undefined || isHeld(lock, now);
      if (isSeenTo || known.has(keyOf({ target, fence }))) since.delete(target);
      else if (since.get(target)?.fence !== fence) since.set(target, { fence, at: now });
    }
    return now - Math.min(now, ...[...since.values()].map(({ at }) => at));
  };
};

const keyOf = ({ target, fence }: Pick<WaitingTarget, 'target' | 'fence'>): string => `${target}#${fence}`;

/** @throws Violation */
export const checkForgotten = ({ configs, tables, seen, mayBeForgotten }: Evidence): void => {
  // With a cap per Target, a Target may wait for one of its own batches.
  const isFull = configs.all
    .flatMap(({ config }) => Object.values(config.operations))
    .some(({ concurrency: { perTarget } }) => perTarget !== null);
  if (!mayBeForgotten || isFull) return;
  const round = (Math.ceil(tables.locks.size / PATROLLED_AT_ONCE) + 1) * MINUTE;
  const { forgotten } = seen;
  demand(forgotten <= GRACE + round, 'the patrol finds each Target that is missing in the slot queue', { forgotten });
};
