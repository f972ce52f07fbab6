/** What a worker has of a partition while it is its own. */

import type { DropReason } from '../domain/fleets/events.ts';
import { CHECKPOINT_MAX_BYTES } from '../domain/fleets/fleet.ts';
import type { PartitionId } from '../domain/fleets/ids.ts';

/** Why a partition is not to be worked on: of a call that has ended, whatever else it has left running. */
export type LostReason = DropReason | 'ended';

/** The partition is not, or no longer, to be worked on. Let it pass: `onPartition` is called again if it comes back. */
export class PartitionLost extends Error {
  override readonly name = 'PartitionLost';
  readonly partition: string;
  readonly reason: LostReason;
  constructor(partition: string, reason: LostReason) {
    super(`partition ${partition} is not to be worked on here any more: ${WHY[reason]}`);
    this.partition = partition;
    this.reason = reason;
  }
}

/** Why a partition's work is to come to its end in its own time. */
export class PartitionDraining extends Error {
  override readonly name = 'PartitionDraining';
  readonly partition: string;
  constructor(partition: string) {
    super(`partition ${partition} is asked for: end what is under way, store a checkpoint and return`);
    this.partition = partition;
  }
}

const WHY: Readonly<Record<LostReason, string>> = {
  evicted: 'this node was silent for so long that others took it for dead',
  taken: 'it is another node’s',
  deadline: 'the last heartbeat of this node is too long ago to be sure of it',
  ended: 'the call of onPartition that it was given to has ended',
  'drain-timeout': 'its work did not end within the time that there was to give it away',
};

/** A checkpoint is a place to go on from, not the state itself. */
export class CheckpointTooLarge extends RangeError {
  override readonly name = 'CheckpointTooLarge';
  constructor(bytes: number) {
    super(
      `a checkpoint has at most ${CHECKPOINT_MAX_BYTES} bytes, not ${bytes}, and nothing was stored: keep the state elsewhere, and its place here`,
    );
  }
}

/** A partition, while it is this worker's. */
export interface Partition {
  readonly id: PartitionId;
  /** Grows with each owner. Give it to whatever else is written, so that it can refuse an owner of before. */
  readonly fence: number;
  /** The checkpoint that was stored last, by whoever had it: where to go on. */
  readonly from: string | undefined;
  /** Aborts when the work is to end: with {@link PartitionDraining} in its own time, with {@link PartitionLost} at once. */
  readonly signal: AbortSignal;
  /** Aborts when the partition is lost, and not while it is drained: for calls that should be ended well. */
  readonly lost: AbortSignal;
  /**
   * To be called before each unit of work: a unit should take less than a third of the shortest Ttl (10 s, with the usual
   * cycle). Costs nothing. @throws PartitionLost
   */
  assertOwned(): void;
  /**
   * Stores how far the work is, for the next owner: at most 4,096 bytes as UTF-8. One write unit for each 1,024 bytes of
   * the row, which has a key of its own. Once the next owner has begun, an owner of before is refused.
   *
   * @throws PartitionLost when it is another's @throws CheckpointTooLarge before anything is written
   */
  checkpoint(text: string): Promise<void>;
}
