/** Bugs that only schedules of other sizes show: they cost too much, or hold others up, where there is much. */
import { handleBatch } from '../../../src/batching/handle-batch.ts';
import { sweep } from '../../../src/batching/sweep.ts';
import type { Operations } from '../../../src/ports.ts';
import type { Size } from '../../../src/simulation/sizes.ts';
import type { Scenario } from '../../../src/simulation/world.ts';
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

/** A bug, the promise that it breaks, the size of the schedules that show it, and which of them. */
type SizeBug = readonly [
  name: string,
  size: Size,
  bug: Bug,
  promise: RegExp,
  where?: (scenario: Scenario) => Partial<Scenario>,
];

export const SIZE_BUGS: readonly SizeBug[] = [
  ['freed slots for which all that wait are read', 'large', allThatWaitAreRead, /no more rows where there is more/],
  ['locks that expire while their Target waits', 'long', locksAreNotKept, /does not expire/],
];
