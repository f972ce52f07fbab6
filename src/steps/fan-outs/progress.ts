/** How far a fan-out is, and which of its items failed: for whoever looks. */

import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import { countsAtEnd } from '../../domain/fan-outs/event.ts';
import type { FanOut } from '../../domain/fan-outs/fan-out.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';
import { lookDown } from './look-down.ts';

export interface Progress {
  readonly succeeded?: number;
  readonly failed: number;
  readonly pending?: number;
  /** It is too large to be counted while it runs: `succeeded` and `pending` are left out, more may have failed. */
  readonly isAtLeast?: true;
}

/** Nodes that are read for one answer at the most: a read unit each. A million items have some 2,200. */
const NODES_READ = 5_000;

export const progressOf = async (fanOuts: FanOuts, fanOut: FanOut): Promise<Progress> => {
  const { total, ended } = fanOut;
  // What was handed out of a list before it was cancelled goes on.
  if (ended && ended.because !== 'cancelled')
    return { ...countsAtEnd(total, ended), ...(ended.because === 'all-done' ? { pending: 0 } : {}) };
  const { failed, left, next } = await lookDown(fanOuts, fanOut, fanOut.groups, (read) => read < NODES_READ);
  if (next !== undefined) return { failed, isAtLeast: true };
  const pending = Math.min(left, total);
  return { succeeded: Math.max(0, total - pending - failed), failed, pending };
};

/** Groups that are read for one page at the most. */
const GROUPS_READ = 500;
/** Items of a page after which no further group is begun: an answer of Lambda has 6 MB at the most. */
const ITEMS_SHOWN = 10_000;

/** Items that failed, in the order of their ids, some groups at a time. @param from the group to begin with */
export const failedItems = async (
  fanOuts: FanOuts,
  { id, groups }: FanOut,
  from: number,
): Promise<{ readonly items: readonly ItemId[]; readonly next?: number }> => {
  const to = Math.min(groups, from + GROUPS_READ);
  const positions = Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ level: 0, n: from + index }));
  const counts = await fanOuts.counts(id, positions);
  const items: ItemId[] = [];
  for (const [index, position] of positions.entries()) {
    if (!counts[index]?.failed) continue;
    if (items.length >= ITEMS_SHOWN) return { items, next: position.n };
    const node = await fanOuts.node(id, position);
    for (const [slot, ok] of (node?.slots ?? []).entries())
      if (ok === false) items.push(itemIdOf({ fanOut: id, group: position.n, index: slot }));
  }
  return to < groups ? { items, next: to } : { items };
};
