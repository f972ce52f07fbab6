/** How far a fan-out is. Looks at what is not done: down from each node to the children whose slots are empty (T8). */

import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import { countsAtEnd } from '../../domain/fan-outs/event.ts';
import { type FanOut, type NodeCounts, sizeOf } from '../../domain/fan-outs/fan-out.ts';
import { childrenOf, type Position, positionAt } from '../../domain/fan-outs/tree.ts';
import type { Millis } from '../../domain/ids.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** What was seen, from `from` on. */
export interface Sight {
  /** Items that failed. */
  readonly failed: number;
  /** Items that are not done; those of a group without a row are taken for a full one. */
  readonly left: number;
  /** When something was acked last. */
  readonly seenAt: Millis;
  /** Where to go on, if it was not all: by `positionAt`. */
  readonly next?: number;
}

/**
 * @param from by `positionAt`; at `groups` is the first node that has children
 * @param mayGoOn asked before each node; its argument is how many nodes have been read
 * @param onChild is given each child whose slot is empty, with what it comes to; and answers whether there is time for more
 */
export const lookDown = async (
  fanOuts: Pick<FanOuts, 'node' | 'counts' | 'width'>,
  fanOut: FanOut,
  from: number,
  mayGoOn: (read: number) => boolean,
  onChild: (position: Position, counts: NodeCounts) => Promise<boolean> = async () => true,
): Promise<Sight> => {
  const { id, groups } = fanOut;
  let [failed, left, seenAt, read] = [0, 0, 0, 0];
  for (let next = from; ; next += 1) {
    const position = positionAt(next, groups, fanOuts.width);
    if (!position) return { failed, left, seenAt };
    const before: Sight = { failed, left, seenAt, next };
    if (!mayGoOn(read)) return before;
    const node = await fanOuts.node(id, position);
    const empty = childrenOf(position, groups, fanOuts.width).filter((_, slot) => !node?.slots[slot]);
    const counts = await fanOuts.counts(id, empty);
    read += 1 + empty.length;
    // Above the groups' parents everything is counted already.
    const isOfGroups = position.level === 1;
    if (isOfGroups) failed += node?.failed ?? 0;
    seenAt = Math.max(seenAt, node?.seenAt ?? 0);
    for (const [index, child] of counts.entries()) {
      if (isOfGroups) failed += child?.failed ?? 0;
      if (isOfGroups) left += leftIn(fanOut, empty[index] as Position, child, fanOuts.width);
      seenAt = Math.max(seenAt, child?.seenAt ?? 0);
      // The same node again, next time: what was done for its children shows there.
      if (child && !(await onChild(empty[index] as Position, child))) return before;
    }
  }
};

/** Of a group that is numbered, slots without items are none that are not done. */
const leftIn = (fanOut: FanOut, position: Position, group: NodeCounts | undefined, width: number): number => {
  const size = sizeOf(fanOut, position, width);
  if (!group) return size ?? width;
  return size === undefined ? group.left : size - (width - group.left);
};

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
