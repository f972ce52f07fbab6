/** How a fleet stands, for people and consoles: what its rows say, in words. */
import { type Fleet, isFree, type Lease, type Node } from './fleet.ts';
import { type FleetName, type NodeId, type NodeKey, nodeIdOf, type PartitionId } from './ids.ts';

/** `evicted`: this life of it is over; its row is still there. */
type NodeStatus = 'working' | 'draining' | 'leaving' | 'evicted';

/**
 * - `owned`: its owner works on it;
 * - `asked`: likewise, until it has given it to `next`;
 * - `free`: nobody works on it, and whoever it is dealt to takes it.
 */
type PartitionStatus = 'owned' | 'asked' | 'free';

export interface NodeView {
  /** Its key: one life of it. */
  readonly node: NodeKey;
  readonly id: NodeId;
  readonly status: NodeStatus;
  readonly beat: number;
  readonly ttlSeconds: number;
  /** By its own clock, as `lastBeatAt` is. */
  readonly startedAt: string;
  readonly lastBeatAt: string;
  /** How many are its own in the table. */
  readonly partitions: number;
}

export interface PartitionView {
  readonly id: PartitionId;
  readonly status: PartitionStatus;
  /** Who works on it; not there while it is free. */
  readonly owner?: NodeKey;
  /** Whose it was, while it is free because that one is gone. */
  readonly lastOwner?: NodeKey;
  readonly next?: NodeKey;
  readonly pin?: NodeKey;
  /** It became its owner's then, by that one's clock. */
  readonly since?: string;
  readonly fence: number;
}

export interface FleetView {
  readonly id: FleetName;
  readonly nodes: readonly NodeView[];
  readonly partitions: readonly PartitionView[];
  /** Checkpoints have rows of their own, or get them when their partitions change hands. */
  readonly checkpointsApart?: true;
}

/** Partitions that nobody has ever taken are in no row, and so not here. */
export const fleetView = (id: FleetName, { nodes, leases, checkpointsApart }: Fleet): FleetView => {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const counts = new Map<NodeKey, number>();
  for (const { owner } of leases) if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return {
    id,
    nodes: nodes.map((node) => nodeView(node, counts.get(node.key) ?? 0)),
    partitions: leases.map((lease) => partitionView(lease, byKey)),
    ...(checkpointsApart ? { checkpointsApart } : {}),
  };
};

const iso = (at: number): string => new Date(at).toISOString();

const nodeView = (node: Node, partitions: number): NodeView => ({
  node: node.key,
  id: nodeIdOf(node.key),
  status: statusOf(node),
  beat: node.beat,
  ttlSeconds: node.ttl / 1_000,
  startedAt: iso(node.startedAt),
  lastBeatAt: iso(node.beatAt),
  partitions,
});

/** Who leaves was told so by its process, and goes; who drains stays, without partitions. */
const statusOf = ({ evicted, leaving, draining }: Node): NodeStatus => {
  if (evicted) return 'evicted';
  if (leaving) return 'leaving';
  return draining ? 'draining' : 'working';
};

const partitionView = (lease: Lease, nodes: ReadonlyMap<NodeKey, Node>): PartitionView => {
  const { partition, owner, next, pin, since, fence } = lease;
  const free = isFree(lease, nodes);
  return {
    id: partition,
    status: free ? 'free' : next === undefined ? 'owned' : 'asked',
    ...(owner === undefined ? {} : free ? { lastOwner: owner } : { owner }),
    ...(next === undefined ? {} : { next }),
    ...(pin === undefined ? {} : { pin }),
    ...(since === undefined ? {} : { since: iso(since) }),
    fence,
  };
};

/** Which node is meant: one that is there, or why not. */
export type Meant =
  | { readonly kind: 'one'; readonly node: Node }
  /** None of these is meant. Empty: none is there. */
  | { readonly kind: 'none'; readonly candidates: readonly NodeKey[] }
  | { readonly kind: 'several'; readonly candidates: readonly NodeKey[] };

/**
 * A node by its key; or by its id, where exactly one life of it has not ended.
 *
 * @param text as people write it
 */
export const nodeMeant = (nodes: readonly Node[], text: string): Meant => {
  const exact = nodes.find(({ key }) => key === text);
  if (exact) return { kind: 'one', node: exact };
  const living = nodes.filter(({ evicted }) => !evicted);
  const [one, ...others] = living.filter(({ key }) => nodeIdOf(key) === text);
  if (!one) return { kind: 'none', candidates: living.map(({ key }) => key) };
  if (others.length > 0) return { kind: 'several', candidates: [one, ...others].map(({ key }) => key) };
  return { kind: 'one', node: one };
};
