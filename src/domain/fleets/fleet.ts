/**
 * A fleet: N nodes share P partitions through one table, without a coordinator.
 *
 * A node's row is its heartbeat, for all of its leases at once. A node is a member, leaving, draining, restarting or
 * evicted. A member may get partitions. A leaving or draining node only gives partitions away. A restarting node has
 * ended its work and writes nothing any more; its partitions wait for its next life (P13). An evicted node has lost
 * this life and writes nothing any more (P3).
 *
 * A lease's row says which node has a partition:
 *
 * - *free*: it has no owner, or its owner is evicted. A member may take it (P4).
 * - *owned*: only its owner works on it. Another member may ask for it by setting `next` (P6).
 * - *asked for*: its owner drains the work and hands it over to `next`, or declines (P6).
 *
 * Invariant: the fence grows when the owner changes, and with no other write.
 */
import type { Millis } from '../ids.ts';
import type { NodeKey, PartitionId } from './ids.ts';

export interface Node {
  readonly key: NodeKey;
  /** The number of the last heartbeat. Grows with each heartbeat. */
  readonly beat: number;
  /** How long, in ms, the heartbeat may stay unchanged before other nodes evict the node. */
  readonly ttl: Millis;
  /** When this life of the node began, by the node's own clock. Only for display. */
  readonly startedAt: Millis;
  /** When the node sent its last heartbeat, by its own clock. Only for display. */
  readonly beatAt: Millis;
  /** Another node has evicted it (P3). This life of the node has ended. */
  readonly evicted?: true;
  /** The node gives away all partitions and is about to leave. */
  readonly leaving?: true;
  /** A user has set that the node holds no partitions. */
  readonly draining?: true;
  /**
   * P13. How long, in ms, the partitions wait for a process with the same name after this one was stopped. Absent if
   * they do not wait.
   */
  readonly restartWithin?: Millis;
  /** P13. The process was stopped, and its work has ended. A process with the same name takes its partitions over. */
  readonly restarting?: true;
  /** The node can read checkpoints in rows of their own. Nodes of release 0.2.0 cannot. */
  readonly readsApart?: true;
}

/** A partition's row, as a node has read it. */
export interface Lease {
  readonly partition: PartitionId;
  readonly fence: number;
  readonly owner?: NodeKey;
  /** The node that has asked for the partition. */
  readonly next?: NodeKey;
  /** The node to which a user has pinned the partition, for as long as that node lives. */
  readonly pin?: NodeKey;
  /** When the owner got the partition, by the owner's clock. */
  readonly since?: Millis;
  /** The last checkpoint of an owner, if it is stored in this row, as in release 0.2.0. */
  readonly checkpoint?: string;
  /** How many checkpoints the owner has stored in this row. */
  readonly stored?: number;
  /** Whether the checkpoint has a row of its own, permanently (P8). */
  readonly checkpointApart?: true;
}

/** All rows of a fleet. The nodes were read after the leases, so the owner of each lease is among them. */
export interface Fleet {
  readonly nodes: readonly Node[];
  readonly leases: readonly Lease[];
  /**
   * Whether checkpoints move to rows of their own when partitions change hands. Nodes of release 0.2.0 cannot work in
   * such a fleet.
   */
  readonly checkpointsApart?: true;
}

/**
 * A partition and its weight. The weight is the share of a node's time that the partition takes, compared with other
 * partitions.
 */
export interface Share {
  readonly partition: PartitionId;
  readonly weight: number;
}

export const WEIGHT_MAX = 1_000_000;
/**
 * Largest checkpoint: five write units with its row. A checkpoint says where to continue; it is not meant for the state
 * itself.
 */
export const CHECKPOINT_MAX_BYTES = 4_096;

/** Whether a node may be given partitions. */
export const isMember = ({ evicted, leaving, draining, restarting }: Node): boolean =>
  !evicted && !leaving && !draining && !restarting;

/** P12. Whether a node that still works gives all of its partitions away. */
export const givesAway = ({ evicted, leaving, draining }: Node): boolean => !evicted && (leaving ?? draining ?? false);

/** Whether a lease may be taken (P4): it has no owner, or its owner can never send a heartbeat again. */
export const isFree = (
  { owner }: { readonly owner?: NodeKey | undefined },
  nodes: ReadonlyMap<NodeKey, Node>,
): boolean => {
  if (owner === undefined) return true;
  const node = nodes.get(owner);
  return node === undefined || node.evicted === true;
};
