/**
 * What fleets need of the world. All reads are strongly consistent; a promise that rejects leaves open whether the write
 * happened. Each write but that of people is conditional on what its writer has seen.
 */

import type { Fleet, Lease, Node } from '../domain/fleets/fleet.ts';
import type { FleetName, NodeKey, PartitionId } from '../domain/fleets/ids.ts';
import type { Millis } from '../domain/ids.ts';

/** What an owner shows to prove that it still is: P8. */
export interface Held {
  readonly partition: PartitionId;
  readonly owner: NodeKey;
  readonly fence: number;
  /** Its checkpoints go to a row of their own. */
  readonly checkpointApart?: true;
}

/** What a new owner goes on from. */
export interface Opened {
  readonly checkpoint?: string;
}

export interface Fleets {
  /** A node's life begins. Its key must be new. In a fleet that is new, too, checkpoints have rows of their own. */
  join(fleet: FleetName, node: Node): Promise<void>;
  /** P1. Writes a heartbeat. Again is harmless. False once the node was evicted, or its row is gone. */
  beat(fleet: FleetName, beat: Pick<Node, 'key' | 'beat' | 'ttl' | 'beatAt' | 'leaving'>): Promise<boolean>;
  /** The rows of a fleet but for its checkpoints, its nodes read after its leases; nothing at all of one that no node has joined. */
  read(fleet: FleetName): Promise<Fleet>;
  /** P3. Ends the life of a node, unless it has beaten since. */
  evict(fleet: FleetName, node: NodeKey, beat: number, at: Millis): Promise<boolean>;
  /** P4. Makes a lease a node's, if its owner and its fence are as they were seen; its fence grows. */
  take(fleet: FleetName, seen: Lease, by: NodeKey, at: Millis): Promise<Lease | undefined>;
  /** P6. Asks the owner of a lease for it, if nobody has. */
  ask(fleet: FleetName, seen: Lease, by: NodeKey): Promise<boolean>;
  /** P6. The owner gives it to nobody. */
  decline(fleet: FleetName, held: Held, asker: NodeKey): Promise<boolean>;
  /** P6. The owner gives it away: to another one, or to whoever takes it. Its fence grows with another owner. */
  handOver(fleet: FleetName, held: Held, to: NodeKey | undefined, at: Millis): Promise<boolean>;
  /**
   * P8. An owner reads the last checkpoint from its own row, which refuses those of owners of before from then on. One that is
   * still in the lease's row moves. Again is harmless.
   *
   * @param lease its owner's, as it was taken or read
   * @returns undefined where the lease is another's by now
   */
  open(fleet: FleetName, lease: Lease): Promise<Opened | undefined>;
  /**
   * P8. Stores a checkpoint, if the lease is still held. One that comes late, after a later one of its owner, changes
   * nothing, and is answered as if it had come in time.
   *
   * @param count of the owner's checkpoints of this lease: the first is 1
   */
  checkpoint(fleet: FleetName, held: Held, text: string, count: number): Promise<boolean>;
  /** The checkpoint in a row of its own, for people. */
  checkpointOf(fleet: FleetName, partition: PartitionId): Promise<string | undefined>;
  /** A node's row goes. */
  leave(fleet: FleetName, node: NodeKey): Promise<void>;

  /** The fleets that somebody has joined, by name. */
  names(): Promise<readonly FleetName[]>;
  /** For people: a node is to have no partitions, or may have some again. False of one that is not there. */
  drain(fleet: FleetName, node: NodeKey, draining: boolean): Promise<boolean>;
  /** For people: from now on checkpoints get rows of their own. Again is harmless. */
  separate(fleet: FleetName): Promise<void>;
  /** For people: whose a partition is to be while that node lives; anybody's without one. False of a lease that is not there. */
  pin(fleet: FleetName, partition: PartitionId, to: NodeKey | undefined): Promise<boolean>;
}
