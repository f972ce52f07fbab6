/**
 * Counts the progress of a fan-out. In each node, only the children whose places are empty are read, because the other
 * children are done (T8).
 */

import { isNumbered } from '../../domain/fan-out-ids.ts';
import { countsAtEnd } from '../../domain/fan-outs/event.ts';
import { type Ended, type FanOut, leftIn, type NodeCounts } from '../../domain/fan-outs/fan-out.ts';
import { childrenOf, type Position, positionAt } from '../../domain/fan-outs/tree.ts';
import type { Millis } from '../../domain/ids.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

/** The counts of the nodes from the position `from` to the last one that was read. */
export interface Sight {
  /** Number of items that failed. */
  readonly failed: number;
  /** Number of items that are not done. If a group has no row, all its items count as not done. */
  readonly left: number;
  /** Whether all groups had a row. If not, `left` may be too high, because only the row knows a group's size. */
  readonly isWhole: boolean;
  /** Time of the last ack. */
  readonly seenAt: Millis;
  /** The position (`positionAt`) from which to continue. Undefined if all nodes were read. */
  readonly next?: number;
}

/**
 * @param from the position (`positionAt`) of the first node to read. The first node that has children is at position
 *   `groups`.
 * @param mayGoOn is called before each node with the number of nodes read so far.
 * @param onChild is called with the counts of each child that has a row and whose place is empty. It resolves to
 *   whether there is time to continue.
 */
export const lookDown = async (
  fanOuts: Pick<FanOuts, 'node' | 'counts' | 'width'>,
  fanOut: FanOut,
  from: number,
  mayGoOn: (read: number) => boolean,
  onChild: (position: Position, counts: NodeCounts) => Promise<boolean> = async () => true,
): Promise<Sight> => {
  const { id, groups, corrected } = fanOut;
  let [failed, left, seenAt, read, isWhole] = [0, 0, 0, 0, true];
  for (let next = from; ; next += 1) {
    const position = positionAt(next, groups, fanOuts.width);
    if (!position) return { failed, left, isWhole, seenAt };
    const before: Sight = { failed, left, isWhole, seenAt, next };
    if (!mayGoOn(read)) return before;
    const node = await fanOuts.node(id, position);
    // Count failures only in groups and their parents. Higher nodes contain the same failures again.
    const isOfGroups = position.level === 1;
    // T11. After corrections the count of the parent may be too high, so read all groups.
    const readsAll = isOfGroups && corrected === true;
    const isEmpty = ({ n }: Position): boolean => !node?.slots[n % fanOuts.width];
    const wanted = childrenOf(position, groups, fanOuts.width).filter((child) => readsAll || isEmpty(child));
    const counts = await fanOuts.counts(id, wanted);
    read += 1 + wanted.length;
    if (isOfGroups && !readsAll) failed += node?.failed ?? 0;
    seenAt = Math.max(seenAt, node?.seenAt ?? 0);
    for (const [index, child] of counts.entries()) {
      if (isOfGroups) failed += child?.failed ?? 0;
      if (isOfGroups) left += leftIn(fanOut, wanted[index] as Position, child, fanOuts.width);
      if (isOfGroups && !child && !isNumbered(id)) isWhole = false;
      seenAt = Math.max(seenAt, child?.seenAt ?? 0);
      // If the time is over, begin with the same node next time, because it then shows which of its children have been
      // handled.
      const place = wanted[index] as Position;
      if (child && isEmpty(place) && !(await onChild(place, child))) return before;
    }
  }
};

export interface Progress {
  readonly succeeded?: number;
  readonly failed: number;
  readonly pending?: number;
  /**
   * Set if the fan-out is too large to be counted while it runs, or ended before its items were counted. Then `succeeded` and `pending` are absent, and more
   * items may have failed.
   */
  readonly isAtLeast?: true;
}

const progressAtEnd = (total: number, ended: Ended): Progress => {
  const counts = countsAtEnd(total, ended);
  return 'pending' in counts ? counts : { failed: counts.failed, isAtLeast: true };
};

/**
 * The largest number of nodes that are read for one response. Each costs a read unit. A fan-out of a million items has
 * about 2,200 nodes.
 */
const NODES_READ = 5_000;

export const progressOf = async (fanOuts: FanOuts, fanOut: FanOut): Promise<Progress> => {
  const { total, ended } = fanOut;
  // The counts of a cancelled list may still change, because workers complete the jobs that they claimed before.
  if (ended && ended.because !== 'cancelled') return progressAtEnd(total, ended);
  const { failed, left, next } = await lookDown(fanOuts, fanOut, fanOut.groups, (read) => read < NODES_READ);
  if (next !== undefined) return { failed, isAtLeast: true };
  const pending = Math.min(left, total);
  return { succeeded: Math.max(0, total - pending - failed), failed, pending };
};
