/**
 * What one life of a node has in hand, and how it gets and gives it. Everything was decided from one reading: each write
 * shows whether that still holds.
 */
import pLimit from 'p-limit';
import type { Action, Holding, Owned } from './decide.ts';
import type { DropReason } from './events.ts';
import type { Lease } from './fleet.ts';
import type { NodeKey, PartitionId } from './ids.ts';
import { attempt, FAILED, type MemberDeps, type Setting, type Sleeper } from './member.ts';
import type { Held } from './store.ts';

/** Enough to take over a dead node's partitions at once, and few enough for a busy one. */
const CONCURRENCY = 8;

interface InHand extends Holding {
  /** Once its work has ended. */
  readonly to?: NodeKey | undefined;
}

export class Hands {
  readonly #key: NodeKey;
  readonly #deps: MemberDeps;
  readonly #setting: Setting;
  readonly #sleeper: Sleeper;
  readonly #holdings = new Map<PartitionId, InHand>();
  /** The fences under which partitions were given away: a reading that began before shows them as its own still. */
  readonly #given = new Map<PartitionId, number>();
  #isOver = false;

  constructor(key: NodeKey, deps: MemberDeps, setting: Setting, sleeper: Sleeper) {
    this.#key = key;
    this.#deps = deps;
    this.#setting = setting;
    this.#sleeper = sleeper;
  }

  get holdings(): ReadonlyMap<PartitionId, Holding> {
    return this.#holdings;
  }

  async perform(actions: readonly Action[]): Promise<void> {
    const limit = pLimit(CONCURRENCY);
    await Promise.all(actions.map((action) => limit(() => this.#perform(action))));
  }

  /** The work on a partition has ended: it was to be drained, or there is no more time. */
  async drained({ partition, fence }: Held): Promise<void> {
    const before = this.#holdings.get(partition);
    if (before?.fence !== fence) return;
    const holding = { ...before, isDraining: true };
    this.#holdings.set(partition, holding);
    await this.#handOver(holding);
  }

  /** This life is over. */
  dropAll(reason: DropReason): void {
    this.#isOver = true;
    for (const partition of [...this.#holdings.keys()]) this.#drop(partition, reason);
  }

  async #perform(action: Action): Promise<void> {
    if (this.#isOver) return;
    const { fleets, clock, report } = this.#deps;
    const { fleet } = this.#setting;
    switch (action.do) {
      case 'go-away':
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
        return this.#take(action.lease);
      case 'ask': {
        const { partition, fence } = action.lease;
        const isAsked = await attempt(this.#deps, 'ask', () => fleets.ask(fleet, action.lease, this.#key));
        if (isAsked === true) report({ event: 'asked', partition, fence });
        return;
      }
      case 'decline':
        return this.#decline(action.lease);
      case 'begin':
        return this.#begin(action.lease);
      case 'drain':
        return this.#drain(action.lease, action.to);
      case 'drop':
        return this.#drop(action.partition, 'taken');
    }
  }

  async #take(seen: Lease): Promise<void> {
    const { fleets, clock } = this.#deps;
    const lease = await attempt(this.#deps, 'take', () =>
      fleets.take(this.#setting.fleet, seen, this.#key, clock.wall()),
    );
    if (lease !== FAILED && lease !== undefined) this.#begin(lease);
  }

  async #decline({ partition, fence, next }: Lease): Promise<void> {
    const { fleets, report } = this.#deps;
    if (next === undefined) return;
    const isDeclined = await attempt(this.#deps, 'decline', () =>
      fleets.decline(this.#setting.fleet, { partition, fence, owner: this.#key }, next),
    );
    if (isDeclined === true) report({ event: 'declined', partition, fence });
  }

  #begin({ partition, fence, checkpoint }: Lease): void {
    if (this.#isOver || this.#holdings.get(partition)?.fence === fence) return;
    if ((this.#given.get(partition) ?? 0) >= fence) return;
    const holding = { partition, fence, isDraining: false };
    this.#holdings.set(partition, holding);
    this.#deps.report({ event: 'acquired', partition, fence });
    this.#deps.work.begin(this.#held(holding), checkpoint);
  }

  #drain({ partition, fence }: Owned, to: NodeKey | undefined): void {
    const isBegun = this.#holdings.get(partition)?.fence === fence;
    const holding = { partition, fence, isDraining: true, to };
    this.#holdings.set(partition, holding);
    if (isBegun) {
      this.#deps.report({ event: 'draining', partition, fence });
      this.#deps.work.drain(this.#held(holding));
    } else {
      // What was not begun has not to end. It is tried until it is done: nothing else is to wait for that.
      void this.#handOver(holding);
    }
  }

  async #handOver(holding: InHand): Promise<void> {
    const { fleets, clock, report } = this.#deps;
    const { fleet, cycle } = this.#setting;
    const { partition, fence, to } = holding;
    while (!this.#isOver) {
      const isGiven = await attempt(this.#deps, 'handOver', () =>
        fleets.handOver(fleet, this.#held(holding), to, clock.wall()),
      );
      if (isGiven !== FAILED) {
        // Refused, it is another's already.
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

  #held({ partition, fence }: Owned): Held {
    return { partition, fence, owner: this.#key };
  }
}
