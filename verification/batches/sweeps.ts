/** What must hold of the sweeps of a schedule in which nothing goes wrong, and of their patrol, which comes last. */
import { isHeld } from '../../src/domain/batches/lock.ts';
import type { Millis, Target } from '../../src/domain/ids.ts';
import type { WaitingTarget } from '../../src/domain/operations/slots.ts';
import { GRACE, MINUTE } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import type { Locks } from '../../src/ports/locks.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence, SeenSweep } from './evidence.ts';

/** Locks that note when the patrol looks at Targets. */
export const notingPatrol = (locks: Locks, sweep: SeenSweep): Locks => ({
  ...locks,
  targets: (...asked) => {
    sweep.hasPatrolled = true;
    return locks.targets(...asked);
  },
});

/** A page of Targets is some requests one after the other, and is to end within the seconds that a sweep keeps for its end. */
const SLOW: Millis = 500;

/** However slow its requests are. @throws Violation */
export const checkSweeps = ({ seen: { sweeps } }: Evidence): void => {
  // The last one may still run.
  for (const [minute, { hasEnded, hasPatrolled, slowness }] of sweeps.slice(0, -1).entries()) {
    demand(hasEnded || slowness > SLOW, 'a sweep ends in its time', { minute });
    demand(hasPatrolled, 'each part of a sweep has its turn', { minute });
  }
};

/** Lock rows that the patrol looks at in each minute. */
export const PATROLLED_AT_ONCE = 100;

/**
 * Looks at all Targets, as often as it is called, for forgotten ones: they wait for a free slot, but no row of their operation says so,
 * because the message that should have woken them was lost. Only the patrol finds them.
 *
 * @returns for how long, at the most, one has been forgotten; time in which the elect function or the sweep stands still does not count
 */
export const watchForgotten = (tables: Tables): ((now: Millis, isStopped: boolean) => Millis) => {
  // With the fence: a leader between two looks ends the time before it.
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
  // A Target that is full as it is waits for one of its own batches.
  const isFull = configs.all
    .flatMap(({ config }) => Object.values(config.operations))
    .some(({ concurrency: { perTarget } }) => perTarget !== null);
  if (!mayBeForgotten || isFull) return;
  const round = (Math.ceil(tables.locks.size / PATROLLED_AT_ONCE) + 1) * MINUTE;
  const { forgotten } = seen;
  demand(forgotten <= GRACE + round, 'the patrol finds a Target that its operation forgot', { forgotten });
};
