/** A fleet of real nodes over a table in memory, in virtual time, with what each node works on and reports. */

import type { DropReason, LifeEvent } from '../../src/domain/fleets/events.ts';
import type { Fleet, Share } from '../../src/domain/fleets/fleet.ts';
import type { NodeId, NodeKey, PartitionId } from '../../src/domain/fleets/ids.ts';
import { Belonging } from '../../src/fleet/belonging.ts';
import type { Clock, Setting, Work } from '../../src/fleet/member.ts';
import { type FleetRows, memoryFleets } from '../../src/memory/fleets.ts';
import type { Fleets, Held } from '../../src/ports/fleets.ts';
import { type Gate, openGate } from '../../src/virtual/gate.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import { Scheduler } from '../../src/virtual/scheduler.ts';
import { FLEET, shares } from './records.ts';

export const CYCLE = 5_000;
export const TTL = 6 * CYCLE;

export type Reported = LifeEvent & { readonly at: number; readonly by: NodeKey };

interface NodeOptions {
  /** The gate between the node and the table. */
  readonly gate?: Gate;
  readonly shares?: readonly Share[];
  readonly setting?: Partial<Setting>;
}

const NEVER = new Promise<never>(() => {});

/** The latency of a call in milliseconds, before and after its effect. */
const LATENCY: readonly [number, number] = [2, 12];

export class SimulatedFleet {
  readonly scheduler = new Scheduler(1_000_000);
  readonly #tables = new Map<typeof FLEET, FleetRows>();
  readonly #random: Random;
  readonly shares: readonly Share[];
  readonly reported: Reported[] = [];
  /** Each call on the table, by its caller's name. */
  readonly calls: { readonly by: string; readonly call: string }[] = [];
  readonly nodes = new Map<string, SimulatedNode>();

  constructor(partitions: number | readonly Share[], seed = 1) {
    this.shares = typeof partitions === 'number' ? shares(partitions) : partitions;
    this.#random = seeded(seed);
  }

  get rows(): Fleet {
    const { nodes, leases } = this.#tables.get(FLEET) ?? { nodes: new Map(), leases: new Map() };
    return { nodes: [...nodes.values()], leases: [...leases.values()] };
  }

  /** Access for callers that are not nodes: people and other tools. */
  get people(): Fleets {
    return memoryFleets(this.#tables);
  }

  start(name: string, options: NodeOptions = {}): SimulatedNode {
    const random = seeded(seedOf(this.#random.int(0, 2 ** 31), name));
    const gate: Gate = async (call, effects) => {
      if (node.isDead) return NEVER;
      this.calls.push({ by: name, call });
      await this.scheduler.wait(random.int(...LATENCY));
      const answers = await (options.gate ?? openGate)(call, effects);
      await this.scheduler.wait(random.int(...LATENCY));
      return answers;
    };
    const node: SimulatedNode = new SimulatedNode(name as NodeId, this, memoryFleets(this.#tables, gate), random, {
      fleet: FLEET,
      shares: options.shares ?? this.shares,
      cycle: CYCLE,
      maxBlocked: 60_000,
      restartWithin: 0,
      notice: 2 * CYCLE,
      leaveWithin: 30_000,
      ...options.setting,
    });
    this.nodes.set(name, node);
    return node;
  }

  /** Lets `span` milliseconds pass. */
  async pass(span: number): Promise<void> {
    const until = this.scheduler.now + span;
    let isOver = false;
    this.scheduler.after(span, () => {
      isOver = true;
    });
    await this.scheduler.run(() => isOver, until);
  }

  /** Waits until a condition holds. @throws if it does not hold within an hour of virtual time */
  async until(done: () => boolean): Promise<void> {
    if (!(await this.scheduler.run(done, this.scheduler.now + 3_600_000)))
      throw new Error('the condition did not hold within an hour');
  }

  /** How many partitions each node works on, by name, without nodes that have none. */
  get counts(): Record<string, number> {
    return Object.fromEntries(
      [...this.nodes.values()].filter(({ working }) => working.size > 0).map(({ id, working }) => [id, working.size]),
    );
  }

  /** The events of one kind. */
  of<Name extends LifeEvent['event']>(name: Name): Extract<Reported, { event: Name }>[] {
    return this.reported.filter((each): each is Extract<Reported, { event: Name }> => each.event === name);
  }

  /** Whether every partition is worked on by exactly one node, its owner in the table. */
  get isWhole(): boolean {
    const owners = new Map(
      this.rows.leases.map(({ partition, owner, fence, next }) => [partition, { owner, fence, next }]),
    );
    const worked = [...this.nodes.values()].flatMap(({ working }) => [...working.values()]);
    return (
      worked.length === this.shares.length &&
      this.shares.every(({ partition }) => {
        const [lease, by] = [owners.get(partition), worked.filter((each) => each.partition === partition)];
        return by.length === 1 && by[0]?.owner === lease?.owner && by[0]?.fence === lease?.fence && !lease?.next;
      })
    );
  }

  /** The partitions on which two nodes may work at this moment, by their own deadlines. */
  get workedTwice(): PartitionId[] {
    const worked = [...this.nodes.values()].flatMap((node) => (node.mayWork ? [...node.working.keys()] : []));
    return worked.filter((partition, index) => worked.indexOf(partition) !== index);
  }
}

export class SimulatedNode {
  readonly id: NodeId;
  readonly #fleet: SimulatedFleet;
  readonly #belonging: Belonging;
  readonly working = new Map<PartitionId, Held>();
  readonly draining = new Map<PartitionId, Held>();
  readonly dropped: { readonly held: Held; readonly reason: DropReason }[] = [];
  readonly checkpoints = new Map<PartitionId, string | undefined>();
  readonly lives: NodeKey[] = [];
  deadline = 0;
  /** How long draining work takes to end, in milliseconds. `Infinity`: it never ends. */
  drainTakes = 0;
  /** When its work was blocked, if it is. */
  blockedSince: number | undefined;
  hasLeft = false;
  isDead = false;

  constructor(id: NodeId, fleet: SimulatedFleet, fleets: Fleets, random: Random, setting: Setting) {
    this.id = id;
    this.#fleet = fleet;
    const { scheduler } = fleet;
    const clock: Clock = {
      now: () => scheduler.now,
      wall: () => scheduler.now,
      sleep: (span) => scheduler.wait(span),
      random: () => random.next(),
    };
    let epoch = 0;
    this.#belonging = new Belonging(
      {
        fleets,
        clock,
        work: this.#work(),
        report: (event) => {
          fleet.reported.push({ ...event, at: scheduler.now, by: this.life } as Reported);
        },
        id,
        epoch: () => `${++epoch}`,
        onLife: (key) => this.lives.push(key),
      },
      setting,
    );
    void this.#belonging.run().then(() => {
      this.hasLeft = true;
    });
  }

  /** Its newest life. */
  get life(): NodeKey {
    return this.lives.at(-1) as NodeKey;
  }

  /** Whether its deadline is ahead (P7). */
  get mayWork(): boolean {
    return this.#fleet.scheduler.now < this.deadline;
  }

  leave(): void {
    this.#belonging.leave();
  }

  /** Its work on a partition ends by itself. */
  finish(held: Held): void {
    this.#forget(held);
    void this.#belonging.drained(held, true);
  }

  /** Ends the node without any write. */
  crash(): void {
    this.isDead = true;
    this.working.clear();
    this.draining.clear();
  }

  #work(): Work {
    const { scheduler } = this.#fleet;
    return {
      begin: (held, checkpoint) => {
        this.working.set(held.partition, held);
        this.checkpoints.set(held.partition, checkpoint);
      },
      drain: (held) => {
        this.draining.set(held.partition, held);
        if (this.drainTakes < Infinity) scheduler.after(this.drainTakes, () => this.#end(held));
      },
      drop: (held, reason) => {
        this.dropped.push({ held, reason });
        this.#forget(held);
      },
      mayUntil: (deadline) => {
        this.deadline = deadline;
      },
      silentFor: () => (this.blockedSince === undefined ? 0 : scheduler.now - this.blockedSince),
    };
  }

  #end(held: Held): void {
    if (this.draining.get(held.partition)?.fence !== held.fence) return;
    this.#forget(held);
    void this.#belonging.drained(held);
  }

  #forget({ partition, fence }: Held): void {
    if (this.working.get(partition)?.fence === fence) this.working.delete(partition);
    if (this.draining.get(partition)?.fence === fence) this.draining.delete(partition);
  }
}
