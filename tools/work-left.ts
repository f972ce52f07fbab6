/** Says how much work of a removed operation is left, for the command line and the console. Pure. */
import type { RemovedOperation } from '../src/api/doctor/responses.ts';
import { lowerBoundOf } from './lower-bounds.ts';

/** @param waited adds for how long the oldest task has waited: `, the oldest for 2 h`. */
export const workLeft = (
  { targets, waiting, waitingIsAtLeast, underWay }: Omit<RemovedOperation, 'oldestAt'>,
  waited = '',
): string =>
  [
    ...(waiting > 0
      ? [
          `${lowerBoundOf(waiting, waitingIsAtLeast, 'task')} of ${lowerBoundOf(targets, false, 'Target')} wait${waited}`,
        ]
      : []),
    ...(underWay
      ? [
          `${lowerBoundOf(underWay.tasks, underWay.isAtLeast, 'task')} in ${lowerBoundOf(underWay.batches, underWay.isAtLeast, 'batch', 'batches')} have no result`,
        ]
      : []),
  ].join('; ');
