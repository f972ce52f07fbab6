/**
 * The tree of a fan-out's nodes (T1). A node needs no pointers: node (level, n) has its parent at (level + 1, ⌊n /
 * width⌋), in slot n mod width. Groups are the nodes of level 0. The number of groups alone determines how many nodes a
 * level has, and how many children a node has. Pure.
 */

/** Limits of a node's row. */
export interface NodeSize {
  /** Slots of a node, and most items of a group (T1). */
  readonly width: number;
  /** Most items of one ack (T3). */
  readonly acksAtOnce: number;
}

/**
 * The limits for DynamoDB. A full row with its attribute names has at most 1,024 bytes, so that every ack costs one
 * write unit. An ack uses 299 of the 300 operators that a condition may have.
 */
export const FULL_SIZE: NodeSize = { width: 450, acksAtOnce: 150 };

export interface Position {
  readonly level: number;
  readonly n: number;
}

/** How many nodes a level has. */
export const nodesAt = (groups: number, level: number, width: number): number => Math.ceil(groups / width ** level);

/** The level of the root, which is the only node of its level. 0 if there is a single group. */
export const topLevel = (groups: number, width: number): number => {
  let level = 0;
  while (nodesAt(groups, level, width) > 1) level += 1;
  return level;
};

export const parentOf = ({ level, n }: Position, width: number): Position & { readonly slot: number } => ({
  level: level + 1,
  n: Math.floor(n / width),
  slot: n % width,
});

/** How many children a node has if the fan-out has this many groups. */
export const childCount = ({ level, n }: Position, groups: number, width: number): number =>
  Math.max(0, Math.min(width, nodesAt(groups, level - 1, width) - n * width));

/** The children of a node. Their numbers are consecutive. */
export const childrenOf = (node: Position, groups: number, width: number): readonly Position[] =>
  Array.from({ length: childCount(node, groups, width) }, (_, slot) => ({
    level: node.level - 1,
    n: node.n * width + slot,
  }));

/** How many items a group has if all items of the fan-out are numbered consecutively (T9). */
export const numberedSize = (total: number, n: number, width: number): number =>
  Math.max(0, Math.min(width, total - n * width));

/** The sizes of the groups for `count` items. All groups except the last are full. */
export const groupSizes = (count: number, width: number): readonly number[] =>
  Array.from({ length: Math.ceil(count / width) }, (_, n) => Math.min(width, count - n * width));

/**
 * The position of node `index` if all nodes are counted level by level, from the groups up. The count includes one
 * level above the root: while the fan-out is open, a full root acks its slot there, because nodes may be added beside
 * it.
 */
export const positionAt = (index: number, groups: number, width: number): Position | undefined => {
  let rest = index;
  for (let level = 0; level <= topLevel(groups, width) + 1; level += 1) {
    const count = nodesAt(groups, level, width);
    if (rest < count) return { level, n: rest };
    rest -= count;
  }
  return undefined;
};
