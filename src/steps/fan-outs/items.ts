/**
 * Pages of a fan-out's items by status. A group is read whole only if its counts show that it has such items, and its
 * counts are read only if its parent node does not rule that out. So the three pending items of a million cost a read
 * for each parent and two for each group that is not done. A deferred list's tracker is walked in the same way (T9).
 */

import { type Item, isNumbered } from '../../domain/fan-out-ids.ts';
import {
  type FanOut,
  type ItemOutcome,
  leftIn,
  type Node,
  type NodeCounts,
  sizeOf,
} from '../../domain/fan-outs/fan-out.ts';
import type { Position } from '../../domain/fan-outs/tree.ts';
import type { FanOuts } from '../../ports/fan-outs.ts';

export type ItemStatus = ItemOutcome | 'pending';

/** An item's place in its fan-out. */
export type Place = Pick<Item, 'group' | 'index'>;

export interface ItemsPage {
  readonly places: readonly Place[];
  /** Where the next page begins. Undefined if no items follow. */
  readonly next?: Place;
}

/** The largest number of groups whose counts are read for one page. */
const GROUPS_READ = 500;
/** The largest number of parent nodes that are read for one page. They cover 100 million items. */
const PARENTS_READ = 500;
/** Number of groups that are read whole at once. */
const WHOLE_AT_ONCE = 8;

/**
 * The items with this status from the place `from` on, at most `most` of them, in order. A page may be empty although
 * more follow. A group whose row is missing has no items yet, because its addition has not returned them to a caller. In
 * a tracker with numbered items, all items of such a group are pending.
 */
export const itemsWith = async (
  fanOuts: Pick<FanOuts, 'node' | 'counts' | 'width'>,
  fanOut: FanOut,
  status: ItemStatus,
  from: Place,
  most: number,
): Promise<ItemsPage> => {
  const { id, groups } = fanOut;
  const { width } = fanOuts;
  const places: Place[] = [];
  let [left, parents] = [GROUPS_READ, PARENTS_READ];
  for (let group = from.group; group < groups; parents -= 1) {
    if (parents === 0) return { places, next: { group, index: 0 } };
    const above = Math.floor(group / width);
    const end = Math.min(groups, (above + 1) * width);
    const parent = groups > 1 ? await fanOuts.node(id, { level: 1, n: above }) : undefined;
    const possible = numbersFrom(group, end).filter((n) => mayHave(status, parent, n % width));
    const read = possible.slice(0, left);
    for (const { position, node } of await wholeNodes(fanOuts, fanOut, status, read)) {
      const { n } = position;
      const first = n === from.group ? from.index : 0;
      for (const index of indexesWith(status, await node(), fanOut, position, width)) {
        if (index < first) continue;
        if (places.length === most) return { places, next: { group: n, index } };
        places.push({ group: n, index });
      }
    }
    const last = read.at(-1);
    if (read.length < possible.length)
      return { places, next: { group: last === undefined ? group : last + 1, index: 0 } };
    left -= read.length;
    group = end;
  }
  return { places };
};

const numbersFrom = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** Whether a group may have items with this status, judged by its parent node. A group is done if its slot is set. */
const mayHave = (status: ItemStatus, parent: Node | undefined, slot: number): boolean => {
  const isDoneGroup = parent?.slots[slot] === true;
  if (status === 'pending') return !isDoneGroup;
  return status === 'succeeded' || !isDoneGroup || (parent?.failed ?? 0) > 0;
};

interface Found {
  readonly position: Position;
  /** The whole group. The reads of the next few groups have begun too. */
  readonly node: () => Promise<Node | undefined>;
}

/** The groups that have items with this status according to their counts. */
const wholeNodes = async (
  fanOuts: Pick<FanOuts, 'node' | 'counts' | 'width'>,
  fanOut: FanOut,
  status: ItemStatus,
  numbers: readonly number[],
): Promise<readonly Found[]> => {
  const { id } = fanOut;
  const positions = numbers.map((n): Position => ({ level: 0, n }));
  const counts = await fanOuts.counts(id, positions);
  const shown = positions.filter((position, index) => has(status, counts[index], fanOut, position, fanOuts.width));
  const reads = new Map<number, Promise<Node | undefined>>();
  const read = (at: number): Promise<Node | undefined> => {
    const known = reads.get(at);
    if (known) return known;
    for (let next = at; next < Math.min(shown.length, at + WHOLE_AT_ONCE); next += 1) {
      const reading = fanOuts.node(id, shown[next] as Position);
      // A failed read is reported when its group is needed.
      reading.catch(() => {});
      reads.set(next, reading);
    }
    return reads.get(at) as Promise<Node | undefined>;
  };
  return shown.map((position, at) => ({ position, node: () => read(at) }));
};

const has = (
  status: ItemStatus,
  group: NodeCounts | undefined,
  fanOut: FanOut,
  position: Position,
  width: number,
): boolean => {
  if (!group) return status === 'pending' && isNumbered(fanOut.id);
  const left = leftIn(fanOut, position, group, width);
  if (status === 'pending') return left > 0;
  if (status === 'failed') return group.failed > 0;
  const size = sizeOf(fanOut, position, width);
  return size === undefined || size - left > group.failed;
};

const SLOTS = { pending: null, succeeded: true, failed: false } as const;

const indexesWith = (
  status: ItemStatus,
  node: Node | undefined,
  fanOut: FanOut,
  position: Position,
  width: number,
): readonly number[] => {
  const size = sizeOf(fanOut, position, width);
  if (!node) return status === 'pending' && size !== undefined ? numbersFrom(0, size) : [];
  // The last group of a tracker has more slots than items.
  return numbersFrom(0, size ?? node.slots.length).filter((index) => node.slots[index] === SLOTS[status]);
};
