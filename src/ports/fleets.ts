/**
 * The store of fleets. All reads are strongly consistent, and after a rejected promise a write may have happened or
 * not. Every write is conditional on what its writer has read, except those that a user requests.
 */

import type { Fleet, Lease, Node } from '../domain/fleets/fleet.ts';
import type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';

/** The fields of a lease that must still be stored for its owner's write to succeed (P8). */
export interface Held {
  readonly partition: PartitionId;
  readonly owner: NodeKey;
  readonly fence: number;
  /** Whether the owner's checkpoints go to a row of their own. */
  readonly checkpointApart?: true;
}

/** The state that a new owner continues from. */
export interface Opened {
  readonly checkpoint?: string;
}

export interface Fleets {
  /** Begins the life of a node. Its key must be new. In a new fleet, checkpoints get rows of their own. */
  join(fleet: FleetName, node: Node): Promise<void>;
  /** Writes a heartbeat (P1). Repeating it does no harm. False if the node was evicted or its row is gone. */
  beat(
    fleet: FleetName,
    beat: Pick<Node, 'key' | 'beat' | 'ttl' | 'beatAt' | 'leaving' | 'restarting'>,
  ): Promise<boolean>;
  /**
   * All rows of a fleet except checkpoints in rows of their own. The nodes are read after the leases. Empty if no node
   * has joined the fleet.
   */
  read(fleet: FleetName): Promise<Fleet>;
  /** Ends the life of a node, unless it has sent a heartbeat since (P3). */
  evict(fleet: FleetName, node: NodeKey, beat: number, at: Millis): Promise<boolean>;
  /** Gives a lease to a node, if its owner and fence are as they were read (P4). The fence grows. */
  take(fleet: FleetName, seen: Lease, by: NodeKey, at: Millis): Promise<Lease | undefined>;
  /** Asks the owner of a lease for it, if no other node has asked (P6). */
  ask(fleet: FleetName, seen: Lease, by: NodeKey): Promise<boolean>;
  /** The owner refuses a request and keeps the partition (P6). */
  decline(fleet: FleetName, held: Held, asker: NodeKey): Promise<boolean>;
  /** The owner gives the partition to a node, or makes it free (P6). With a new owner the fence grows. */
  handOver(fleet: FleetName, held: Held, to: NodeKey | undefined, at: Millis): Promise<boolean>;
  /**
   * Reads the last checkpoint for an owner from the checkpoint's own row (P8). Afterwards that row refuses checkpoints
   * of earlier owners. A checkpoint that is still in the lease's row is moved to its own row. Repeating it does no
   * harm.
   *
   * @param lease the owner's lease, as taken or read
   * @returns undefined if the lease has another owner by now
   */
  open(fleet: FleetName, lease: Lease): Promise<Opened | undefined>;
  /**
   * Stores a checkpoint, if the lease is still held (P8). If a later checkpoint of the same owner is stored already,
   * the call changes nothing and returns true.
   *
   * @param count the number of the owner's checkpoint in this lease: the first is 1
   */
  checkpoint(fleet: FleetName, held: Held, text: string, count: number): Promise<boolean>;
  /** Reads a checkpoint that has a row of its own. Only for display. */
  checkpointOf(fleet: FleetName, partition: PartitionId): Promise<string | undefined>;
  /** Deletes a node's row. */
  leave(fleet: FleetName, node: NodeKey): Promise<void>;

  /** The fleets that a node has joined, by name. */
  names(): Promise<readonly FleetName[]>;
  /** On a user's request: sets whether a node should hold no partitions. False if the node does not exist. */
  drain(fleet: FleetName, node: NodeKey, draining: boolean): Promise<boolean>;
  /** On a user's request: the fleet's checkpoints get rows of their own. Repeating it does no harm. */
  separate(fleet: FleetName): Promise<void>;
  /**
   * On a user's request: pins a partition to a node for as long as that node lives, or unpins it without one. False if
   * the lease does not exist.
   */
  pin(fleet: FleetName, partition: PartitionId, to: NodeKey | undefined): Promise<boolean>;
}
