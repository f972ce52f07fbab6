/**
 * A fleet: P partitions that N nodes share through one table, with nobody in charge (design, section 9).
 *
 * A node's row is its heartbeat, for all of its leases at once. A lease's row says whose a partition is:
 *
 * - nobody's: without an owner;
 * - somebody's: its owner works on it until it gives it away, or is evicted (P3);
 * - asked for: its owner is to give it to `next` once its work on it has ended (P6).
 *
 * The fence grows whenever the owner changes, and with nothing else.
 */
import type { Millis } from '../ids.ts';
import type { NodeKey, PartitionId } from './ids.ts';

export interface Node {
  readonly key: NodeKey;
  /** Grows with each heartbeat. */
  readonly beat: number;
  /** For how long its heartbeat may stand still before others take it for dead. */
  readonly ttl: Millis;
  /** It began then, by its own clock: for people. */
  readonly startedAt: Millis;
  /** It sent its last heartbeat then, by its own clock: for people. */
  readonly beatAt: Millis;
  /** P3. Others took it for dead. This life of it is over. */
  readonly evicted?: true;
  /** It gives all away, and is about to go. */
  readonly leaving?: true;
  /** Somebody wants it to have no partitions. */
  readonly draining?: true;
  /** It reads checkpoints that have rows of their own. Nodes of 0.2.0 do not. */
  readonly readsApart?: true;
}

/** A partition's row, as whoever wants to change it has seen it. */
export interface Lease {
  readonly partition: PartitionId;
  readonly fence: number;
  readonly owner?: NodeKey;
  /** Who asked for it. */
  readonly next?: NodeKey;
  /** Whose somebody wants it to be, for as long as that node lives. */
  readonly pin?: NodeKey;
  /** It became its owner's then, by that one's clock. */
  readonly since?: Millis;
  /** What an owner has stored last, where it is in this row: as 0.2.0 has it. */
  readonly checkpoint?: string;
  /** How many its owner has stored in this row. */
  readonly stored?: number;
  /** P8. The checkpoint has a row of its own, for good. */
  readonly checkpointApart?: true;
}

/** All of a fleet's rows. The nodes were read after the leases, so that who owns one is there. */
export interface Fleet {
  readonly nodes: readonly Node[];
  readonly leases: readonly Lease[];
  /** Checkpoints get rows of their own as partitions change hands. No node of 0.2.0 can work in it any more. */
  readonly checkpointsApart?: true;
}

/** What is shared: a partition, and how much of a node's time it takes, compared with others. */
export interface Share {
  readonly partition: PartitionId;
  readonly weight: number;
}

export const WEIGHT_MAX = 1_000_000;
/** Five write units with its row: a place to go on from, and not the state itself. */
export const CHECKPOINT_MAX_BYTES = 4_096;

/** Whether partitions may be given to a node. */
export const isMember = ({ evicted, leaving, draining }: Node): boolean => !evicted && !leaving && !draining;

/** P4. Whether a lease may be taken: nobody has it, or its owner can never beat again. */
export const isFree = (
  { owner }: { readonly owner?: NodeKey | undefined },
  nodes: ReadonlyMap<NodeKey, Node>,
): boolean => {
  if (owner === undefined) return true;
  const node = nodes.get(owner);
  return node === undefined || node.evicted === true;
};
