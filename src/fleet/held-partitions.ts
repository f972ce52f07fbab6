/**
 * The partitions that one life of a node holds, and how the node takes partitions and gives them away. One read of the
 * fleet decides all actions of a round. Each conditional write checks that the decision is still valid.
 */
import pLimit from 'p-limit';
import type { Action, Holding, Owned } from '../domain/fleets/decide.ts';
import type { DropReason } from '../domain/fleets/events.ts';
import type { Lease } from '../domain/fleets/fleet.ts';
import { type NodeKey, nodeIdOf, type PartitionId } from '../domain/fleets/ids.ts';
import type { Held, Opened } from '../ports/fleets.ts';
import { attempt, FAILED, type MemberDeps, type Setting, type Sleeper } from './member.ts';

/**
 * Number of calls at the same time: enough to take over a dead node's partitions quickly, and few enough for a busy
 * node.
 */
const CONCURRENCY = 8;

/**
 * A later owner has opened the checkpoint, because another node was faster. If this error occurs in each round, a user
 * has deleted the lease row, so that its fences started again.
 */
class LaterOwner extends Error {
  override readonly name = 'LaterOwner';
  constructor(partition: string, fence: number) {
    super(
      `the checkpoint of partition ${partition} belongs to a later owner than the owner with fence ${fence}; if the lease row of this partition was deleted, delete its checkpoint row too`,
    );
  }
}

interface InHand extends Holding {
  /** The node that gets the partition when the work on the partition has ended. */
  readonly to?: NodeKey | undefined;
  readonly checkpointApart?: true;
}

export class HeldPartitions {
  readonly #key: NodeKey;
  readonly #deps: MemberDeps;
  readonly #setting: Setting;
  readonly #sleeper: Sleeper;
  readonly #holdings = new Map<PartitionId, InHand>();
  /**
   * For each partition that was given away, the fence of this node's lease. A read that began before the hand-over
   * still shows the lease as this node's own.
   */
  readonly #given = new Map<PartitionId, number>();
  /**
   * One limit for all calls about partitions. Partitions whose work ends at the same time, as in a node that leaves,
   * are handed over under this limit too.
   */
  readonly #limit = pLimit(CONCURRENCY);
  #isOver = false;
  #isKeeping = false;

  constructor(key: NodeKey, deps: MemberDeps, setting: Setting, sleeper: Sleeper) {
    this.#key = key;
    this.#deps = deps;
    this.#setting = setting;
    this.#sleeper = sleeper;
  }

  get holdings(): ReadonlyMap<PartitionId, Holding> {
    return this.#holdings;
  }

  /** @param apart whether a partition gets a row of its own for checkpoints when work on the partition begins */
  async perform(actions: readonly Action[], apart = false): Promise<void> {
    await Promise.all(actions.map((action) => this.#limit(() => this.#perform(action, apart))));
  }

  /**
   * Gives a partition away. Called when the working thread reports that the work on the partition has ended, because
   * the partition was to be drained or because the time for draining is over.
   */
  async drained({ partition, fence }: Held): Promise<void> {
    const before = this.#holdings.get(partition);
    if (before?.fence !== fence) return;
    if (this.#isKeeping && before.to === undefined) {
      this.#holdings.delete(partition);
      return;
    }
    const holding = { ...before, isDraining: true };
    this.#holdings.set(partition, holding);
    await this.#handOver(holding);
  }

  /** P13. From now on, partitions whose work ends stay this node's own, unless another node gets them. */
  keepAll(): void {
    this.#isKeeping = true;
  }

  /** Drops all partitions, because this life of the node is over. */
  dropAll(reason: DropReason): void {
    this.#isOver = true;
    for (const partition of [...this.#holdings.keys()]) this.#drop(partition, reason);
  }

  async #perform(action: Action, apart: boolean): Promise<void> {
    if (this.#isOver) return;
    const { fleets, clock, report } = this.#deps;
    const { fleet } = this.#setting;
    switch (action.do) {
      case 'go-away':
      case 'yield':
        return;
      case 'evict': {
        const { node, beat } = action;
        const isOver = await attempt(this.#deps, 'evict', () => fleets.evict(fleet, node, beat, clock.wall()));
        if (isOver === true) report({ event: 'evicted-another', other: node });
        return;
      }
      case 'forget':
        await attempt(this.#deps, 'leave', () => fleets.leave(fleet, action.node));
        return;
      case 'take':
        return this.#take(action.lease, apart);
      case 'ask': {
        const { partition, fence } = action.lease;
        const isAsked = await attempt(this.#deps, 'ask', () => fleets.ask(fleet, action.lease, this.#key));
        if (isAsked === true) report({ event: 'asked', partition, fence });
        return;
      }
      case 'decline':
        return this.#decline(action.lease);
      case 'begin':
        return this.#begin(action.lease, apart);
      case 'drain':
        return this.#drain(action.lease, action.to);
      case 'keep':
        return this.#drain(action.lease, undefined);
      case 'drop':
        return this.#drop(action.partition, 'taken');
    }
  }

  async #take(seen: Lease, apart: boolean): Promise<void> {
    const { fleets, clock } = this.#deps;
    const lease = await attempt(this.#deps, 'take', () =>
      fleets.take(this.#setting.fleet, seen, this.#key, clock.wall()),
    );
    if (lease === FAILED || lease === undefined) return;
    const isReturned = seen.owner !== undefined && nodeIdOf(seen.owner) === nodeIdOf(this.#key);
    await this.#begin(lease, apart, isReturned);
  }

  async #decline({ partition, fence, next }: Lease): Promise<void> {
    const { fleets, report } = this.#deps;
    if (next === undefined) return;
    const isDeclined = await attempt(this.#deps, 'decline', () =>
      fleets.decline(this.#setting.fleet, { partition, fence, owner: this.#key }, next),
    );
    if (isDeclined === true) report({ event: 'declined', partition, fence });
  }

  async #begin(lease: Lease, apart: boolean, isReturned = false): Promise<void> {
    const { partition, fence, checkpointApart = apart || undefined } = lease;
    if (!this.#mayBegin(lease)) return;
    const opened = checkpointApart ? await this.#open(lease) : lease;
    // If the call failed, do not begin now: the next read still shows the lease as this node's own, and the work begins
    // then. During the call, the partition may also have been given away.
    if (opened === FAILED || !this.#mayBegin(lease)) return;
    if (opened === undefined) return this.#isLaterOwners(lease);
    const holding: InHand = { partition, fence, isDraining: false, ...(checkpointApart ? { checkpointApart } : {}) };
    this.#holdings.set(partition, holding);
    this.#deps.report({ event: 'acquired', partition, fence, ...(isReturned ? { returned: true } : {}) });
    this.#deps.work.begin(this.#held(holding), opened.checkpoint);
  }

  #mayBegin({ partition, fence }: Lease): boolean {
    return !this.#isOver && this.#holdings.get(partition)?.fence !== fence && (this.#given.get(partition) ?? 0) < fence;
  }

  /** P8. Reads the checkpoint to continue from, and ensures that no earlier owner can store another checkpoint. */
  #open(lease: Lease): Promise<Opened | undefined | typeof FAILED> {
    return attempt(this.#deps, 'open', () => this.#deps.fleets.open(this.#setting.fleet, lease));
  }

  #isLaterOwners({ partition, fence }: Lease): void {
    this.#deps.report({ event: 'store-failed', call: 'open', cause: new LaterOwner(partition, fence) });
  }

  #drain({ partition, fence }: Owned, to: NodeKey | undefined): void {
    const before = this.#holdings.get(partition);
    const isBegun = before?.fence === fence;
    const holding: InHand = { ...(isBegun ? before : {}), partition, fence, isDraining: true, to };
    this.#holdings.set(partition, holding);
    if (isBegun) {
      this.#deps.report({ event: 'draining', partition, fence });
      this.#deps.work.drain(this.#held(holding));
    } else {
      // The work on this partition has not begun, so there is nothing to wait for. The hand-over repeats until it
      // succeeds, and no other code waits for it.
      void this.#handOver(holding);
    }
  }

  async #handOver(holding: InHand): Promise<void> {
    const { fleets, clock, report } = this.#deps;
    const { fleet, cycle } = this.#setting;
    const { partition, fence, to } = holding;
    while (!this.#isOver) {
      const isGiven = await this.#limit(() =>
        attempt(this.#deps, 'handOver', () => fleets.handOver(fleet, this.#held(holding), to, clock.wall())),
      );
      if (isGiven !== FAILED) {
        // A refused write means that another node has the partition already.
        this.#given.set(partition, fence);
        if (isGiven) report({ event: 'handed-over', partition, fence, ...(to === undefined ? {} : { to }) });
        if (this.#holdings.get(partition) === holding) this.#holdings.delete(partition);
        return;
      }
      await this.#sleeper.sleep(cycle / 5);
    }
  }

  #drop(partition: PartitionId, reason: DropReason): void {
    const holding = this.#holdings.get(partition);
    if (!holding) return;
    this.#holdings.delete(partition);
    this.#deps.report({ event: 'dropped', partition, fence: holding.fence, reason });
    this.#deps.work.drop(this.#held(holding), reason);
  }

  #held({ partition, fence, checkpointApart }: Owned & Pick<InHand, 'checkpointApart'>): Held {
    return { partition, fence, owner: this.#key, ...(checkpointApart ? { checkpointApart } : {}) };
  }
}
