/** A partition as its worker sees it while it owns the partition. */

import type { DropReason } from '../domain/fleets/events.ts';
import { CHECKPOINT_MAX_BYTES } from '../domain/fleets/fleet.ts';
import type { PartitionId } from '../domain/fleets/ids.ts';

/**
 * Why this worker must stop work on a partition. `ended`: the call of `onPartition` has ended, but left work running.
 */
export type LostReason = DropReason | 'ended';

/**
 * This worker must not work on the partition, or must stop. Do not catch this error: `onPartition` is called again if
 * this worker owns the partition again.
 */
export class PartitionLost extends Error {
  override readonly name = 'PartitionLost';
  readonly partition: string;
  readonly reason: LostReason;
  constructor(partition: string, reason: LostReason) {
    super(`stop the work on partition ${partition}: ${WHY[reason]}`);
    this.partition = partition;
    this.reason = reason;
  }
}

/** Reason with which `signal` aborts if the work on a partition may end in its own time. */
export class PartitionDraining extends Error {
  override readonly name = 'PartitionDraining';
  readonly partition: string;
  constructor(partition: string) {
    super(`partition ${partition} moves to another node: finish the current work, store a checkpoint and return`);
    this.partition = partition;
  }
}

const WHY: Readonly<Record<LostReason, string>> = {
  evicted: 'this node wrote no heartbeat for so long that other nodes evicted it',
  taken: 'another node owns it',
  deadline: 'the last heartbeat of this node is too old, so another node may take it',
  ended: 'the call of onPartition that worked on it has ended',
  'drain-timeout': 'its work did not end within drainTimeout',
};

/** A checkpoint is too large. It should hold the place to continue from, not the state itself. */
export class CheckpointTooLarge extends RangeError {
  override readonly name = 'CheckpointTooLarge';
  constructor(bytes: number) {
    super(
      `a checkpoint may have at most ${CHECKPOINT_MAX_BYTES} bytes, but this checkpoint has ${bytes} bytes, so it was not stored. Store the state elsewhere, and only the place of the state in the checkpoint`,
    );
  }
}

/** A partition, while this worker owns it. */
export interface Partition {
  readonly id: PartitionId;
  /**
   * Fencing token: it grows with each change of the owner. Pass it to other stores, so that they can refuse writes of
   * an earlier owner.
   */
  readonly fence: number;
  /**
   * The last checkpoint that this owner or an earlier owner stored: the place to continue from. Undefined if there is
   * none.
   */
  readonly from: string | undefined;
  /**
   * Aborts when the work must end. The reason is {@link PartitionDraining} if the work may end in its own time, and
   * {@link PartitionLost} if the work must stop at once.
   */
  readonly signal: AbortSignal;
  /**
   * Aborts when the partition is lost, but not while it is drained. Use it for calls that should finish during a drain.
   */
  readonly lost: AbortSignal;
  /**
   * Throws if this worker must not work on the partition. Call this function before each unit of work. A unit should
   * take less than a third of the shortest Ttl (10 s with the default cycle). The check makes no request.
   *
   * @throws PartitionLost
   */
  assertOwned(): void;
  /**
   * Stores how far the work has come, for the next owner: at most 4,096 bytes as UTF-8. The checkpoint has a row of its
   * own, and costs one write unit for each 1,024 bytes of that row. When the next owner has begun, checkpoints of an
   * earlier owner are refused.
   *
   * @throws PartitionLost if another node owns the partition
   * @throws CheckpointTooLarge before anything is written
   */
  checkpoint(text: string): Promise<void>;
}
