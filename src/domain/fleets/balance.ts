/**
 * The plan that balances a fleet: which node should get which partition (P5). The plan moves as few partitions as
 * possible, and none once the loads are even.
 *
 * First the free partitions are dealt, the heaviest first, each to the node with the smallest load (longest processing
 * time first: Graham, Bounds on Multiprocessing Timing Anomalies, 1969). Then partitions move from nodes with a larger
 * load to nodes with a smaller one, while the difference is greater than the weight that moves. Each of these moves
 * makes the sum of the squared loads smaller. Therefore the moves come to an end, and the plans of two nodes cannot
 * undo each other. With equal weights, every node gets the floor or the ceiling of its share, and the nodes with the
 * most partitions keep the ceilings.
 *
 * The plan depends only on the state of the fleet, so every node computes the same one.
 */
import type { NodeKey, PartitionId } from './ids.ts';

export interface Placed {
  readonly partition: PartitionId;
  readonly weight: number;
  /**
   * The node that owns the partition, or is about to own it. Undefined while the partition is free. The plan does not
   * move a partition of a node that is no member.
   */
  readonly at: NodeKey | undefined;
  /** The node that the partition is pinned to, regardless of loads. */
  readonly pin: NodeKey | undefined;
  /** Whether the partition may move. It may not while a transfer is under way. */
  readonly mayMove: boolean;
  /**
   * When the node got the partition. The newest partition moves first, because its node has built up the least state
   * for it.
   */
  readonly since: number;
}

export interface Plan {
  readonly deals: readonly { readonly partition: PartitionId; readonly to: NodeKey }[];
  readonly moves: readonly { readonly partition: PartitionId; readonly from: NodeKey; readonly to: NodeKey }[];
}

interface Holder {
  readonly key: NodeKey;
  load: number;
  readonly has: Placed[];
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const byLoad = (a: Holder, b: Holder): number =>
  a.load - b.load || a.has.length - b.has.length || compare(a.key, b.key);

export const balance = (members: readonly NodeKey[], placed: readonly Placed[]): Plan => {
  if (members.length === 0) return { deals: [], moves: [] };
  const holders = new Map(members.map((key): [NodeKey, Holder] => [key, { key, load: 0, has: [] }]));
  for (const each of placed) {
    const holder = each.at === undefined ? undefined : holders.get(each.at);
    if (holder) give(each, holder);
  }
  const pinned = pins(placed, holders);
  return { deals: deal(placed, holders), moves: [...pinned, ...level(holders)] };
};

/** Pinned partitions move to their nodes first. The others are balanced around them. */
const pins = (placed: readonly Placed[], holders: ReadonlyMap<NodeKey, Holder>): Plan['moves'] =>
  placed.flatMap((each) => {
    const [from, to] = [each.at && holders.get(each.at), each.pin && holders.get(each.pin)];
    if (!from || !to || from === to || !each.mayMove) return [];
    move(each, from, to);
    return [{ partition: each.partition, from: from.key, to: to.key }];
  });

const deal = (placed: readonly Placed[], holders: ReadonlyMap<NodeKey, Holder>): Plan['deals'] =>
  placed
    .filter(({ at }) => at === undefined)
    .sort((a, b) => b.weight - a.weight || compare(a.partition, b.partition))
    .map((each) => {
      const pinned = each.pin && holders.get(each.pin);
      const to = pinned || ([...holders.values()].sort(byLoad)[0] as Holder);
      give(each, to);
      return { partition: each.partition, to: to.key };
    });

/**
 * Balances the loads. A partition that was dealt just now does not move, because it was dealt to the node with the
 * smallest load.
 */
const level = (holders: ReadonlyMap<NodeKey, Holder>): Plan['moves'] => {
  const moves: { partition: PartitionId; from: NodeKey; to: NodeKey }[] = [];
  for (let next = best(holders); next; next = best(holders)) {
    move(next.each, next.from, next.to);
    moves.push({ partition: next.each.partition, from: next.from.key, to: next.to.key });
  }
  return moves;
};

/**
 * The best move: from the node with the largest load that has a partition to give, to the node with the smallest load.
 */
const best = (holders: ReadonlyMap<NodeKey, Holder>) => {
  const sorted = [...holders.values()].sort(byLoad);
  for (const to of sorted)
    for (let index = sorted.length - 1; index >= 0; index -= 1) {
      const from = sorted[index] as Holder;
      const difference = from.load - to.load;
      if (difference <= 0) break;
      const each = fitting(from, difference);
      if (each) return { each, from, to };
    }
  return undefined;
};

/** Among the partitions that reduce the difference, the one that reduces it most. */
const fitting = ({ key, has }: Holder, difference: number): Placed | undefined => {
  const off = ({ weight }: Placed): number => Math.abs(weight - difference / 2);
  const order = (a: Placed, b: Placed): number =>
    off(a) - off(b) || b.since - a.since || compare(b.partition, a.partition);
  return has
    .filter(({ at, mayMove, pin, weight }) => at === key && mayMove && pin !== key && weight < difference)
    .reduce<Placed | undefined>((best, each) => (best && order(best, each) < 0 ? best : each), undefined);
};

const give = (each: Placed, to: Holder): void => {
  to.has.push(each);
  to.load += each.weight;
};

const move = (each: Placed, from: Holder, to: Holder): void => {
  from.has.splice(from.has.indexOf(each), 1);
  from.load -= each.weight;
  // `at` keeps the current owner, which is the node to ask for the partition.
  give(each, to);
};
