/** Looks at what is not done in a fan-out: down from each node to the children whose slots are empty (T8). */

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
