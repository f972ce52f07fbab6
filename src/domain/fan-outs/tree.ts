/**
 * The tree of a fan-out's nodes (T1). Positions stand in for pointers: node (level, n) has its parent at
 * (level + 1, ⌊n / width⌋), in slot n mod width. Groups are the nodes of level 0; how many nodes a level has, and how many
 * children a node, follows from the number of groups alone. Pure.
 */

/** What a row holds. */
export interface NodeSize {
  /** T1. Slots of a node, and items of a group at the most. */
  readonly width: number;
  /** T3. Items that one ack takes at the most. */
  readonly acksAtOnce: number;
}

/**
 * DynamoDB's: as many slots as a row within 1,024 bytes has room for, its names included, so that every ack is one write
 * unit; and 299 of the 300 operators that a condition may have.
 */
export const FULL_SIZE: NodeSize = { width: 450, acksAtOnce: 150 };

export interface Position {
  readonly level: number;
  readonly n: number;
}

/** How many nodes a level has. */
export const nodesAt = (groups: number, level: number, width: number): number => Math.ceil(groups / width ** level);

/** The level of the one node above which there is nothing to know: 0 for a single group. */
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

/** How many children a node has when the fan-out has so many groups. */
export const childCount = ({ level, n }: Position, groups: number, width: number): number =>
  Math.max(0, Math.min(width, nodesAt(groups, level - 1, width) - n * width));

/** The children that a node has then: of consecutive numbers. */
export const childrenOf = (node: Position, groups: number, width: number): readonly Position[] =>
  Array.from({ length: childCount(node, groups, width) }, (_, slot) => ({
    level: node.level - 1,
    n: node.n * width + slot,
  }));

/** T9. How many items a group has when all of a fan-out's are numbered through. */
export const numberedSize = (total: number, n: number, width: number): number =>
  Math.max(0, Math.min(width, total - n * width));

/** The sizes of the groups that hold `count` items: all of them full but the last. */
export const groupSizes = (count: number, width: number): readonly number[] =>
  Array.from({ length: Math.ceil(count / width) }, (_, n) => Math.min(width, count - n * width));

/**
 * Where node `index` is, when all nodes are counted level by level: the groups come first, then their parents. One
 * level above the top is counted too: a full top climbs while the fan-out is open, since more may come beside it.
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
