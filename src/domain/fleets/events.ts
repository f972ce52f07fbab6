/** The events that a node of a fleet reports, for logs and for the code that checks schedules. */
import type { Millis } from '../ids.ts';
import type { FleetName, NodeKey, PartitionId } from './ids.ts';

/** Why a node must stop the work on a partition at once. */
export type DropReason =
  /** Another node evicted this node. */
  | 'evicted'
  /** The table shows another owner. */
  | 'taken'
  /**
   * The last heartbeat is too old (P7). The work continues after the next heartbeat, if the partition still belongs to
   * this node.
   */
  | 'deadline'
  /** The work did not end within the time for draining. */
  | 'drain-timeout';

/**
 * What a node does with a partition whose `onPartition` returned by itself: its signal had not aborted.
 * - `keep`: the node keeps the partition, and does not work on it until it moves.
 * - `release`: the partition becomes free, and another node takes it after some cycles. This node takes it again only
 *   after a minute, doubled up to an hour each time.
 * - `again`: the node begins the work again, after a pause of 1 s, doubled up to 60 s while calls are shorter than it.
 */
export type WhenFinished = 'keep' | 'release' | 'again';

export type FleetEvent = { readonly fleet: FleetName; readonly node: NodeKey } & (
  | { readonly event: 'joined' | 'left' }
  /** P13. This node has ended its work. Its partitions wait `within` ms for the next process with its name. */
  | { readonly event: 'restarting'; readonly within: Millis }
  /** Another node evicted this node (P9). This node joins again after `away` ms. */
  | { readonly event: 'evicted'; readonly away: Millis }
  /** This node evicted another node (P3). */
  | { readonly event: 'evicted-another'; readonly other: NodeKey }
  | {
      readonly event: 'asked' | 'declined' | 'draining';
      readonly partition: PartitionId;
      readonly fence: number;
    }
  | {
      readonly event: 'acquired';
      readonly partition: PartitionId;
      readonly fence: number;
      /** P13. The last process with this node's name had the partition. */
      readonly returned?: true;
    }
  | {
      readonly event: 'handed-over';
      readonly partition: PartitionId;
      readonly fence: number;
      /** The new owner. Absent if the partition became free. */
      readonly to?: NodeKey;
    }
  | {
      readonly event: 'dropped';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly reason: DropReason;
    }
  /** `onPartition` returned by itself: its signal had not aborted. */
  | {
      readonly event: 'finished';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly whenFinished: WhenFinished;
    }
  /** The partition was lost `span` ms ago, but the function that does its work has not returned. */
  | {
      readonly event: 'still-running';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly reason: DropReason;
      readonly span: Millis;
    }
  /** The function that does the work on a partition threw. The node calls it again after `pause` ms. */
  | {
      readonly event: 'work-failed';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly pause: Millis;
      readonly cause: unknown;
    }
  /** A call to the table failed. The node repeats it. */
  | { readonly event: 'store-failed'; readonly call: string; readonly cause: unknown }
  /** The thread that works on the partitions does not answer, so the node stops its heartbeats. */
  | { readonly event: 'blocked'; readonly span: Millis }
);

/** An event of one life of a node, without the names of the node and its fleet. */
export type LifeEvent = FleetEvent extends infer Each
  ? Each extends FleetEvent
    ? Omit<Each, 'fleet' | 'node'>
    : never
  : never;
