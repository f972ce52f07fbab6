/** The state of a fleet as the command line, the API and the console show it. */
import { type Fleet, isFree, type Lease, type Node } from './fleet.ts';
import { type FleetName, type NodeId, type NodeKey, nodeIdOf, type PartitionId } from './ids.ts';

/**
 * `evicted`: this life of the node has ended, and its row is still stored. `restarting`: the process was stopped, and
 * its partitions wait for the next process with its name.
 */
type NodeStatus = 'working' | 'draining' | 'leaving' | 'restarting' | 'evicted';

/**
 * The status of a partition.
 * - `owned`: its owner works on it.
 * - `asked`: its owner works on it until it gives it to `next`.
 * - `free`: no node works on it. The node that it is dealt to takes it.
 */
type PartitionStatus = 'owned' | 'asked' | 'free';

export interface NodeView {
  /** The node's key, which names one life of the node. */
  readonly node: NodeKey;
  readonly id: NodeId;
  readonly status: NodeStatus;
  readonly beat: number;
  readonly ttlSeconds: number;
  /** When this life of the node began, by the node's own clock, like `lastBeatAt`. */
  readonly startedAt: string;
  readonly lastBeatAt: string;
  /** How many partitions the node owns according to the table. */
  readonly partitions: number;
}

export interface PartitionView {
  readonly id: PartitionId;
  readonly status: PartitionStatus;
  /** The node that works on the partition. Absent while the partition is free. */
  readonly owner?: NodeKey;
  /** The node that owned the partition, if the partition is free because that node is gone. */
  readonly lastOwner?: NodeKey;
  readonly next?: NodeKey;
  readonly pin?: NodeKey;
  /** When the owner got the partition, by the owner's clock. */
  readonly since?: string;
  readonly fence: number;
}

export interface FleetView {
  readonly id: FleetName;
  readonly nodes: readonly NodeView[];
  readonly partitions: readonly PartitionView[];
  /** Whether checkpoints have rows of their own, or get them when their partitions change hands. */
  readonly checkpointsApart?: true;
}

/** The view of a fleet. Partitions that no node has ever taken have no row, and are missing here. */
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

/** A node is `leaving` if its process ends; a `draining` node stays, without partitions. */
const statusOf = ({ evicted, leaving, draining, restarting }: Node): NodeStatus => {
  if (evicted) return 'evicted';
  if (restarting) return 'restarting';
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

/** The node that a user's text names, or the reason why no node was found. */
export type Meant =
  | { readonly kind: 'one'; readonly node: Node }
  /** No node matches. `candidates` are the living nodes. */
  | { readonly kind: 'none'; readonly candidates: readonly NodeKey[] }
  | { readonly kind: 'several'; readonly candidates: readonly NodeKey[] };

/**
 * Finds a node by its key, or by its id if exactly one life with that id has not ended.
 *
 * @param text as the user writes it
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
