/** Bugs that only schedules of other sizes show: they cost too much, or hold others up, where there is much. */
import { handleBatch } from '../../../src/batching/handle-batch.ts';
import { mustStay } from '../../../src/batching/lock.ts';
import { sweep } from '../../../src/batching/sweep.ts';
import type { Locks, Operations } from '../../../src/ports.ts';
import type { Size } from '../../../src/simulation/sizes.ts';
import type { Bug } from './bug.ts';

/** Whoever frees a slot reads all that wait for one, to wake the oldest. */
const allThatWaitAreRead: Bug = {
  handleBatch: (deps, message, delivery) => {
    const waiting: Operations['waiting'] = async (operation, limit) =>
      (await deps.operations.waiting(operation, 1_000)).slice(0, limit);
    return handleBatch({ ...deps, operations: { ...deps.operations, waiting } }, message, delivery);
  },
};

/** The patrol lets the locks go of Targets that a pause keeps waiting for months. */
const locksAreNotKept: Bug = {
  sweep: (deps, invocation) => sweep({ ...deps, locks: { ...deps.locks, keep: async () => {} } }, invocation),
};

/** The patrol keeps only locks that show themselves that they must stay, and not those of a paused operation. */
const locksOfPausedOperationsAreNotKept: Bug = {
  sweep: (deps, invocation) => {
    const glance: Locks['glance'] = async (target) => {
      const { expiresAt: _, ...seen } = await deps.locks.glance(target);
      return mustStay(seen.lock) ? deps.locks.glance(target) : seen;
    };
    return sweep({ ...deps, locks: { ...deps.locks, glance } }, invocation);
  },
};

/** A bug, the promise that it breaks, the size of the schedules that show it, and which of them. */
type SizeBug = readonly [
  name: string,
  size: Size,
  bug: Bug,
  promise: RegExp,
  /** The seed to begin with. @default 1 */
  first?: number,
];

export const SIZE_BUGS: readonly SizeBug[] = [
  ['freed slots for which all that wait are read', 'large', allThatWaitAreRead, /no more rows where there is more/],
  ['locks that expire while their Target waits', 'long', locksAreNotKept, /does not expire/],
  [
    'locks that expire while their operation is paused',
    'long',
    locksOfPausedOperationsAreNotKept,
    /every registered task ends/,
    1128,
  ],
];
