/** How far a list is, and how its jobs stand: for whoever looks. */
import pLimit from 'p-limit';
import type { Millis } from '../../domain/ids.ts';
import { listOf } from '../../domain/lists/ids.ts';
import { freshOf, handsOut, isFree, type Lease, type List } from '../../domain/lists/list.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import { progressOf } from '../fan-outs/progress.ts';
import { doneIn } from './done.ts';

export interface ListProgress {
  /** Jobs that could be handed out now. */
  readonly available: number;
  /** Jobs that somebody has claimed. */
  readonly leased: number;
  /** Jobs that are tasks, and not done. */
  readonly started?: number;
  readonly succeeded?: number;
  /**
   * Where `started` and `succeeded` are left out the list is too large to be counted while it runs, or was cancelled so
   * long ago that its rows are gone: at least so many.
   */
  readonly failed: number;
}

type Sight = Pick<FanOuts, 'node' | 'width'>;

/** Leases that are looked at at once. */
const AT_ONCE = 8;

export const listProgress = async (fanOuts: FanOuts, list: List, now: Millis): Promise<ListProgress> => {
  // Of one that was cancelled only its rows tell what was done, and they are gone.
  if (list.status === 'cancelled' && list.checkAt === undefined) return { available: 0, leased: 0, failed: 0 };
  const { succeeded, failed } = await progressOf(fanOuts, list);
  // A lease may be left of somebody who stopped once all of its jobs were done.
  if (list.status === 'complete')
    return { available: 0, leased: 0, started: 0, ...(succeeded === undefined ? {} : { succeeded }), failed };
  const free = await openIn(fanOuts, list, (lease) => isFree(lease, now));
  const leased = await openIn(fanOuts, list, (lease) => !isFree(lease, now));
  const fresh = freshOf(list);
  return {
    available: handsOut(list) ? fresh + free : 0,
    leased,
    ...(succeeded === undefined
      ? {}
      : // What was read a moment later may be done by now.
        { started: Math.max(0, list.total - fresh - free - leased - succeeded - failed), succeeded }),
    failed,
  };
};

/** Jobs that could be handed out now. */
export const availableIn = async (fanOuts: Sight, list: List, now: Millis): Promise<number> =>
  handsOut(list) ? freshOf(list) + (await openIn(fanOuts, list, (lease) => isFree(lease, now))) : 0;

/** Jobs of some leases that are not done. */
const openIn = async (fanOuts: Sight, list: List, fits: (lease: Lease) => boolean): Promise<number> => {
  const id = listOf(list.id);
  const counts = await pLimit(AT_ONCE).map(
    list.leases.filter(fits),
    async (lease) => lease.count - (await doneIn(fanOuts, id, lease)).size,
  );
  return counts.reduce((sum, count) => sum + count, 0);
};
