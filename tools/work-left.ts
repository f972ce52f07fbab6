/** What is left of an operation that is no longer configured, for the command line and the console. Pure. */
import type { RemovedOperation } from '../src/api/doctor/responses.ts';
import { lowerBound } from './lower-bounds.ts';

const some = (value: number, isAtLeast: boolean | undefined, one: string, many = `${one}s`): string =>
  `${lowerBound(value, isAtLeast)} ${value === 1 && !isAtLeast ? one : many}`;

/** @param waited adds for how long the oldest task has waited: `, the oldest for 2 h`. */
export const workLeft = (
  { targets, waiting, waitingIsAtLeast, underWay }: Omit<RemovedOperation, 'oldestAt'>,
  waited = '',
): string =>
  [
    ...(waiting > 0
      ? [`${some(waiting, waitingIsAtLeast, 'task')} of ${some(targets, false, 'Target')} wait${waited}`]
      : []),
    ...(underWay
      ? [
          `${some(underWay.tasks, underWay.isAtLeast, 'task')} in ${some(underWay.batches, underWay.isAtLeast, 'batch', 'batches')} have no result`,
        ]
      : []),
  ].join('; ');
