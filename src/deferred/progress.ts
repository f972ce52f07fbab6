/** How far a list is, and how its jobs stand: for whoever looks. */
import pLimit from 'p-limit';
import type { Millis } from '../batching/ids.ts';
import { progressOf } from '../fan-out/progress.ts';
import type { FanOuts } from '../fan-out/store.ts';
import { doneIn } from './done.ts';
import { listOf } from './ids.ts';
import { freshOf, handsOut, isFree, type Lease, type List } from './list.ts';

export interface ListProgress {
  /** Jobs that could be handed out now. */
  readonly available: number;
  /** Jobs that somebody has claimed. */
  readonly leased: number;
  /** Jobs that are tasks, and not done. */
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** Leases that are looked at at once. */
const AT_ONCE = 8;

export const listProgress = async (fanOuts: FanOuts, list: List, now: Millis): Promise<ListProgress> => {
  const { succeeded = 0, failed } = await progressOf(fanOuts, list);
  const id = listOf(list.id);
  const open = await pLimit(AT_ONCE).map(list.leases, async (lease) => ({
    lease,
    count: lease.count - (await doneIn(fanOuts, id, lease)).size,
  }));
  const sum = (fits: (lease: Lease) => boolean): number =>
    open.reduce((all, { lease, count }) => all + (fits(lease) ? count : 0), 0);
  const free = sum((lease) => isFree(lease, now));
  const leased = sum((lease) => !isFree(lease, now));
  const fresh = freshOf(list);
  // What was read a moment later may be done by now.
  const started = Math.max(0, list.total - fresh - free - leased - succeeded - failed);
  return { available: handsOut(list) ? fresh + free : 0, leased, started, succeeded, failed };
};
