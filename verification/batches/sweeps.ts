/** What must hold of the sweeps of a schedule in which nothing goes wrong, however slow their requests are. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Locks } from '../../src/ports/locks.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { Evidence } from './evidence.ts';

/** A sweep, and how far it came. */
export interface SeenSweep {
  hasEnded: boolean;
  /** Whether its patrol, which comes last, looked at Targets. */
  hasPatrolled: boolean;
  /** How much longer each of its requests takes, at the most. */
  readonly slowness: Millis;
}

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

/** @throws Violation */
export const checkSweeps = ({ seen: { sweeps } }: Evidence): void => {
  // The last one may still run.
  for (const [minute, { hasEnded, hasPatrolled, slowness }] of sweeps.slice(0, -1).entries()) {
    demand(hasEnded || slowness > SLOW, 'a sweep ends in its time', { minute });
    demand(hasPatrolled, 'each part of a sweep has its turn', { minute });
  }
};
