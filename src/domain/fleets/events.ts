/** What a fleet tells of itself: for a log, and for whoever checks it. */
import type { Millis } from '../ids.ts';
import type { FleetName, NodeKey, PartitionId } from './ids.ts';

/** Why the work on a partition has to stop. */
export type DropReason =
  /** Others took this node for dead. */
  | 'evicted'
  /** The table says that it is another's. */
  | 'taken'
  /** P7. Its last heartbeat is too long ago: it goes on when there is one again, if it is still its own then. */
  | 'deadline'
  /** The work did not end within the time that is left for it. */
  | 'drain-timeout';

export type FleetEvent = { readonly fleet: FleetName; readonly node: NodeKey } & (
  | { readonly event: 'joined' | 'left' }
  /** P9. Others took it for dead; it comes back after `away` ms. */
  | { readonly event: 'evicted'; readonly away: Millis }
  /** P3. It has ended the life of another one. */
  | { readonly event: 'evicted-another'; readonly other: NodeKey }
  | {
      readonly event: 'acquired' | 'asked' | 'declined' | 'draining' | 'finished';
      readonly partition: PartitionId;
      readonly fence: number;
    }
  | {
      readonly event: 'handed-over';
      readonly partition: PartitionId;
      readonly fence: number;
      /** To nobody in particular without one. */
      readonly to?: NodeKey;
    }
  | {
      readonly event: 'dropped';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly reason: DropReason;
    }
  /** What works on it threw; it is called again after `pause` ms. */
  | {
      readonly event: 'work-failed';
      readonly partition: PartitionId;
      readonly fence: number;
      readonly pause: Millis;
      readonly cause: unknown;
    }
  /** A call on the table failed; it is made again. */
  | { readonly event: 'store-failed'; readonly call: string; readonly cause: unknown }
  /** What works on the partitions does not answer, so that heartbeats cease. */
  | { readonly event: 'blocked'; readonly span: Millis }
);

/** What is told of one life of a node, without its name and its fleet's. */
export type LifeEvent = FleetEvent extends infer Each
  ? Each extends FleetEvent
    ? Omit<Each, 'fleet' | 'node'>
    : never
  : never;
