/**
 * One life of a node: it joins the fleet, writes heartbeats, reads the fleet and performs the decided actions, until it
 * has left or was evicted.
 *
 * Heartbeats and reads run side by side, so that a slow read never delays the next heartbeat.
 */

import { decide, type View } from '../domain/fleets/decide.ts';
import { type Fleet, givesAway, type Node } from '../domain/fleets/fleet.ts';
import { type NodeKey, nodeIdOf } from '../domain/fleets/ids.ts';
import { type Released, released, restingAt } from '../domain/fleets/released.ts';
import { type Memory, NOTHING_SEEN, remember } from '../domain/fleets/silence.ts';
import { blockedAfter, HURRIED_LOOKS, hurriedPause, JITTER, RESTED_LOOKS } from '../domain/fleets/timings.ts';
import { unworkedOf } from '../domain/fleets/unworked.ts';
import type { Millis } from '../domain/ids.ts';
import type { Held } from '../ports/fleets.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeldPartitions } from './held-partitions.ts';
import { attempt, FAILED, type MemberDeps, type Setting, Sleeper } from './member.ts';

/** `refused`: another process has this node's name (P14). */
export type LifeEnd = 'evicted' | 'left' | 'refused';

export class Life {
  readonly #key: NodeKey;
  readonly #deps: MemberDeps;
  readonly #setting: Setting;
  /** Sleeps between two reads of the fleet. */
  readonly #sleeper: Sleeper;
  /** Sleeps between two heartbeats. */
  readonly #beatSleeper: Sleeper;
  readonly #heartbeat: Heartbeat;
  readonly #partitions: HeldPartitions;
  readonly #over = Promise.withResolvers<LifeEnd>();
  #end: LifeEnd | undefined;
  #leavingSince: Millis | undefined;
  #released: Released = new Map();
  /** Whether a user has set that this node holds no partitions. */
  #isDrained = false;
  /** P12. Since when this node gives all partitions away: it is leaving, or a user has set that it holds none. */
  #givingSince: Millis | undefined;
  /** P13. Whether the heartbeat that says that the work has ended was sent. No later heartbeat may follow. */
  #isResting = false;
  #rival: Node | undefined;
  /** Whether the node has tried to delete its row. The row may be gone, even if the call failed. */
  #isGoing = false;
  #memory: Memory = NOTHING_SEEN;
  /** Number of reads that may still come sooner than usual. Grows again while no change is expected. */
  #haste = HURRIED_LOOKS;
  /** The pause before such a read, in milliseconds. It depends on the size of the fleet. */
  #hurried: Millis;

  constructor(key: NodeKey, deps: MemberDeps, setting: Setting) {
    this.#key = key;
    this.#deps = deps;
    this.#setting = setting;
    this.#sleeper = new Sleeper(deps.clock);
    this.#beatSleeper = new Sleeper(deps.clock);
    this.#heartbeat = new Heartbeat(key, deps, setting);
    this.#hurried = setting.cycle / 5;
    this.#partitions = new HeldPartitions(key, deps, setting, this.#sleeper);
  }

  /** P14. The node that has this node's name, if this life was refused. */
  get rival(): Node | undefined {
    return this.#rival;
  }

  /** Resolves when this life is over. */
  async run(): Promise<LifeEnd> {
    await this.#join();
    if (this.#end) return this.#end;
    this.#deps.report({ event: 'joined' });
    void this.#beating();
    void this.#looking();
    const end = await this.#over.promise;
    if (end === 'left') this.#deps.report({ event: 'left' });
    return end;
  }

  /** Gives all partitions away, or ends the work on them (P13), then leaves the fleet. */
  leave(): void {
    this.#leavingSince ??= this.#deps.clock.now();
    if (this.#keeps) this.#partitions.keepAll();
    this.#wakeUp();
  }

  /**
   * Called when the work on a partition has ended, because it was to be drained, or by itself.
   *
   * @param isReleased whether it ended by itself, so that other nodes should have the partition next
   */
  async drained(held: Held, isReleased: boolean): Promise<void> {
    if (isReleased) this.#released = released(this.#released, held.partition, this.#deps.clock.now());
    await this.#partitions.drained(held);
    if (this.#isLeaving && this.#partitions.holdings.size === 0) this.#sleeper.wakeAll();
  }

  /** P13. Whether the partitions wait for the next process with this node's name. */
  get #keeps(): boolean {
    return this.#setting.restartWithin > 0 && !this.#isDrained;
  }

  /** Whether this node leaves, and its partitions go to other nodes. */
  get #isGivingAway(): boolean {
    return this.#isLeaving && !this.#keeps;
  }

  get #isLeaving(): boolean {
    return this.#leavingSince !== undefined;
  }

  async #join(): Promise<void> {
    while (!this.#isLeaving) {
      if ((await this.#heartbeat.join()) === 'alive') return;
      await this.#sleeper.sleep(this.#setting.cycle / 5);
    }
    this.#finish('left');
  }

  async #beating(): Promise<void> {
    const { clock, work, report } = this.#deps;
    const { cycle, maxBlocked } = this.#setting;
    let isBlocked = false;
    let wasLeaving = this.#isGivingAway;
    await this.#beatSleeper.sleep(this.#around(cycle));
    while (!this.#end) {
      const from = clock.now();
      const span = work.silentFor();
      if (span > maxBlocked && !isBlocked) report({ event: 'blocked', span });
      isBlocked = span > maxBlocked;
      wasLeaving = this.#isGivingAway;
      if (this.#isResting) return;
      if (!isBlocked && (await this.#heartbeat.beat(wasLeaving)) === 'evicted') return this.#finishGone();
      if (wasLeaving === this.#isGivingAway)
        await this.#beatSleeper.sleep(Math.max(from + this.#around(cycle) - clock.now(), cycle / 5));
    }
  }

  async #looking(): Promise<void> {
    const { clock } = this.#deps;
    const { cycle } = this.#setting;
    while (!this.#end) {
      const from = clock.now();
      const isSomethingComing = await this.#look();
      this.#giveUp();
      const span = this.#isLeaving || this.#mayHurry(isSomethingComing) ? this.#hurried : this.#around(cycle);
      // An overloaded node, whose reads take long, rests for half of the pause nevertheless.
      if (!this.#end) await this.#sleeper.sleep(Math.max(from + span - clock.now(), span / 2));
    }
  }

  /**
   * Whether the next read may come sooner than usual. Reads come sooner while a partition changes hands, so that the
   * partition is without an owner only briefly. The number of these reads is limited, because an expected change may
   * never come.
   */
  #mayHurry(isSomethingComing: boolean): boolean {
    const isHurried = isSomethingComing && this.#haste > 0;
    if (isHurried) this.#haste -= 1;
    else if (!isSomethingComing) this.#haste = Math.min(this.#haste + RESTED_LOOKS, HURRIED_LOOKS);
    return isHurried;
  }

  /** @returns whether a partition is about to change hands */
  async #look(): Promise<boolean> {
    const { fleets, clock, work } = this.#deps;
    const { fleet: name, shares, cycle } = this.#setting;
    const from = clock.now();
    const fleet = await attempt(this.#deps, 'read', () => fleets.read(name));
    if (fleet === FAILED || this.#end) return false;
    this.#memory = remember(this.#memory, fleet, shares, { from, to: clock.now() }, cycle);
    this.#deps.seen?.(unworkedOf(fleet, shares));
    const own = fleet.nodes.find(({ key }) => key === this.#key);
    if (own && !own.evicted) this.#heartbeat.seen(own.beat);
    this.#hurried = hurriedPause(fleet.nodes.length, fleet.nodes.length + fleet.leases.length, cycle);
    const { holdings } = this.#partitions;
    const isBlocked = work.silentFor() > blockedAfter(cycle);
    const hasGivenNotice = this.#hasGivenNotice(own);
    this.#isDrained = own?.draining === true;
    const [isLeaving, isRestarting] = [this.#isLeaving, this.#isLeaving && this.#keeps];
    const view = { me: this.#key, fleet, memory: this.#memory, shares, holdings, ...this.#resting };
    const how = { isLeaving: isLeaving && !isRestarting, isRestarting, isBlocked, hasGivenNotice };
    const actions = decide({ ...view, ...how });
    const [first] = actions;
    if (first?.do === 'go-away') {
      this.#finishGone();
      return false;
    }
    if (first?.do === 'yield') {
      this.#rival = first.to;
      this.#finish('refused');
      return false;
    }
    await this.#partitions.perform(actions, fleet.checkpointsApart);
    const owns = fleet.leases.some(({ owner }) => owner === this.#key);
    if (isLeaving && !owns && holdings.size === 0) await this.#go();
    else if (isRestarting && holdings.size === 0) await this.#rest();
    return actions.some((action) => action.do === 'ask') || isAboutToChange(fleet, this.#key);
  }

  /** P12. Whether the other nodes have had time to ask for the partitions that this node gives away. */
  #hasGivenNotice(own: Node | undefined): boolean {
    const now = this.#deps.clock.now();
    if (own && givesAway(own)) this.#givingSince ??= now;
    else if (!this.#isLeaving) this.#givingSince = undefined;
    const since = this.#leavingSince ?? this.#givingSince;
    return since !== undefined && now - since >= this.#setting.notice;
  }

  get #resting(): Pick<View, 'resting'> {
    return this.#released.size === 0 ? {} : { resting: restingAt(this.#released, this.#deps.clock.now()) };
  }

  /** Deletes the node's row. Called when the node owns no partition any more. */
  async #go(): Promise<void> {
    const { fleets } = this.#deps;
    this.#isGoing = true;
    const isGone = await attempt(this.#deps, 'leave', () => fleets.leave(this.#setting.fleet, this.#key));
    if (isGone !== FAILED) this.#finish('left');
  }

  /** P13. Writes that the work has ended, so that the next process with this node's name takes the partitions over. */
  async #rest(): Promise<void> {
    this.#isResting = true;
    const outcome = await this.#heartbeat.rest();
    if (outcome === 'unknown') return;
    if (outcome === 'alive') this.#deps.report({ event: 'restarting', within: this.#setting.restartWithin });
    this.#finish('left');
  }

  /**
   * Ends the life when the time for leaving is over. Other nodes take the remaining partitions when this node sends no
   * more heartbeats.
   */
  #giveUp(): void {
    const since = this.#leavingSince;
    if (since !== undefined && this.#deps.clock.now() - since >= this.#setting.leaveWithin) this.#finish('left');
  }

  /** The node's row is gone or evicted, so no heartbeat can be written. */
  #finishGone(): void {
    this.#finish(this.#isGoing ? 'left' : 'evicted');
  }

  #finish(end: LifeEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#partitions.dropAll(end === 'evicted' ? 'evicted' : 'drain-timeout');
    this.#wakeUp();
    this.#over.resolve(end);
  }

  #wakeUp(): void {
    this.#sleeper.wakeAll();
    this.#beatSleeper.wakeAll();
  }

  #around(cycle: Millis): Millis {
    return cycle * (1 + JITTER * (2 * this.#deps.clock.random() - 1));
  }
}

/**
 * Whether a partition is about to change hands: this node has asked for it, its owner gives it away, or its owner is
 * the last process with this node's name, which ends or has ended (P13).
 */
const isAboutToChange = ({ nodes, leases }: Fleet, me: NodeKey): boolean => {
  const isPast = ({ key, evicted, restartWithin }: Node): boolean =>
    key !== me && restartWithin !== undefined && !evicted && nodeIdOf(key) === nodeIdOf(me);
  if (nodes.some(isPast)) return true;
  const leaving = new Set(nodes.filter(givesAway).map(({ key }) => key));
  return leases.some(({ owner, next }) => next === me || (owner !== undefined && leaving.has(owner)));
};
