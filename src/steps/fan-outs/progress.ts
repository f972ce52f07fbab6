/**
 * Counts the progress of a fan-out. Only nodes that are not done are read, from each node down to the children whose
 * slots are empty (T8).
 */

import { type ItemId, itemIdOf } from '../../domain/fan-out-ids.ts';
import { countsAtEnd } from '../../domain/fan-outs/event.ts';
import { type FanOut, type NodeCounts, sizeOf } from '../../domain/fan-outs/fan-out.ts';
import { childrenOf, type Position, positionAt } from '../../domain/fan-outs/tree.ts';
import type { Millis } from '../../domain/ids.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** Counts from `from` on. */
export interface Sight {
  /** Items that failed. */
  readonly failed: number;
  /** Items that are not done. A group without a row counts as full. */
  readonly left: number;
  /** When an item was acked last. */
  readonly seenAt: Millis;
  /** The position to go on from (`positionAt`), if not all was read. */
  readonly next?: number;
}

/**
 * @param from a position (`positionAt`). At `groups` is the first node that has children.
 * @param mayGoOn is called before each node with the number of nodes read so far.
 * @param onChild is called for each child whose slot is empty, with its counts. It resolves to whether there is time
 * for more.
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
    // Nodes above the groups' parents repeat what was counted already.
    const isOfGroups = position.level === 1;
    if (isOfGroups) failed += node?.failed ?? 0;
    seenAt = Math.max(seenAt, node?.seenAt ?? 0);
    for (const [index, child] of counts.entries()) {
      if (isOfGroups) failed += child?.failed ?? 0;
      if (isOfGroups) left += leftIn(fanOut, empty[index] as Position, child, fanOuts.width);
      seenAt = Math.max(seenAt, child?.seenAt ?? 0);
      // Read the same node again next time: it then shows what was done for its children.
      if (child && !(await onChild(empty[index] as Position, child))) return before;
    }
  }
};

/** In a numbered group, slots without items do not count as open. */
const leftIn = (fanOut: FanOut, position: Position, group: NodeCounts | undefined, width: number): number => {
  const size = sizeOf(fanOut, position, width);
  if (!group) return size ?? width;
  return size === undefined ? group.left : size - (width - group.left);
};

export interface Progress {
  readonly succeeded?: number;
  readonly failed: number;
  readonly pending?: number;
  /**
   * The fan-out is too large to be counted while it runs. `succeeded` and `pending` are absent, and more items may have
   * failed.
   */
  readonly isAtLeast?: true;
}

/** The most nodes read for one response, a read unit each. A million items have about 2,200. */
const NODES_READ = 5_000;

export const progressOf = async (fanOuts: FanOuts, fanOut: FanOut): Promise<Progress> => {
  const { total, ended } = fanOut;
  // Jobs that were handed out before a list was cancelled go on.
  if (ended && ended.because !== 'cancelled')
    return { ...countsAtEnd(total, ended), ...(ended.because === 'all-done' ? { pending: 0 } : {}) };
  const { failed, left, next } = await lookDown(fanOuts, fanOut, fanOut.groups, (read) => read < NODES_READ);
  if (next !== undefined) return { failed, isAtLeast: true };
  const pending = Math.min(left, total);
  return { succeeded: Math.max(0, total - pending - failed), failed, pending };
};

/** The most groups read for one page. */
const GROUPS_READ = 500;
/** After this many items, a page begins no further group: a Lambda response has 6 MB at most. */
const ITEMS_SHOWN = 10_000;

/** Items that failed, in the order of their ids, some groups at a time. @param from the group to begin with. */
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
