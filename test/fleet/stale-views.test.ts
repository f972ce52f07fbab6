/** Nodes that act at once on old reads, each on another one. */
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/domain/fleets/decide.ts';
import type { Fleet, Share } from '../../src/domain/fleets/fleet.ts';
import type { NodeKey } from '../../src/domain/fleets/ids.ts';
import { NOTHING_SEEN } from '../../src/domain/fleets/silence.ts';
import { HeldPartitions } from '../../src/fleet/held-partitions.ts';
import { type Clock, type MemberDeps, Sleeper } from '../../src/fleet/member.ts';
import { type FleetRows, memoryFleets } from '../../src/memory/fleets.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { aNode, FLEET, key, partition } from './records.ts';
import { CYCLE } from './simulated-fleet.ts';

const CLOCK: Clock = { now: () => 0, wall: () => 0, sleep: async () => {}, random: () => 0.5 };

/** Nodes without a clock: each reads when the test says so, and acts on its latest read. */
class Stale {
  readonly rows: FleetRows = { nodes: new Map(), leases: new Map(), checkpoints: new Map() };
  readonly fleets = memoryFleets(new Map([[FLEET, this.rows]]));
  readonly hands = new Map<NodeKey, HeldPartitions>();
  readonly seen = new Map<NodeKey, Fleet>();
  readonly shares: readonly Share[];
  handedOver = 0;

  constructor(count: number, shares: readonly Share[]) {
    this.shares = shares;
    for (let n = 0; n < count; n += 1) this.add(`n${n}`);
  }

  add(name: string): void {
    const me = key(name);
    this.rows.nodes.set(me, aNode(name));
    const deps: MemberDeps = {
      fleets: this.fleets,
      clock: CLOCK,
      work: {
        begin: () => {},
        drain: (held) => {
          queueMicrotask(() => void hands.drained(held));
        },
        drop: () => {},
        mayUntil: () => {},
        silentFor: () => 0,
      },
      report: ({ event }) => {
        this.handedOver += Number(event === 'handed-over');
      },
    };
    const setting = {
      fleet: FLEET,
      shares: this.shares,
      cycle: CYCLE,
      maxBlocked: 1,
      restartWithin: 0,
      notice: 1,
      leaveWithin: 1,
    };
    const hands = new HeldPartitions(me, deps, setting, new Sleeper(CLOCK));
    this.hands.set(me, hands);
    this.seen.set(me, { nodes: [aNode(name)], leases: [] });
  }

  async read(me: NodeKey): Promise<void> {
    this.seen.set(me, await this.fleets.read(FLEET));
  }

  /** @returns the number of its actions */
  async act(me: NodeKey): Promise<number> {
    const [hands, fleet] = [this.hands.get(me) as HeldPartitions, this.seen.get(me) as Fleet];
    const memory = { ...NOTHING_SEEN, looks: 3 };
    const actions = decide({ me, fleet, memory, shares: this.shares, holdings: hands.holdings, isLeaving: false });
    await hands.perform(actions);
    await new Promise((resolve) => setImmediate(resolve));
    return actions.length;
  }

  /** Each node reads and acts in turn until no node has anything to do. @returns the number of rounds */
  async settle(most: number): Promise<number> {
    for (let round = 0; ; round += 1) {
      let done = 0;
      for (const me of this.hands.keys()) {
        await this.read(me);
        done += await this.act(me);
      }
      if (done === 0) return round;
      if (round === most) throw new Error(`not settled after ${most} rounds`);
    }
  }

  loads(): number[] {
    const weights = new Map(this.shares.map((share) => [share.partition, share.weight]));
    const load = (me: NodeKey) =>
      [...this.rows.leases.values()].reduce(
        (sum, each) => sum + (each.owner === me ? (weights.get(each.partition) ?? 0) : 0),
        0,
      );
    return [...this.hands.keys()].map(load);
  }
}

type Weigh = (random: Random) => number;
const WEIGHTS: Readonly<Record<'equal' | 'any' | 'far apart', Weigh>> = {
  equal: () => 1,
  any: (random) => random.int(1, 9),
  'far apart': (random) => random.int(1, random.chance(0.5) ? 9 : 1_000),
};

const anyShares = (random: Random, weigh: Weigh): Share[] =>
  Array.from({ length: random.int(1, 24) }, (_, n) => ({ partition: partition(n), weight: weigh(random) }));

/** In each step a node reads, or acts on its latest read, in random order, sometimes two at once. */
const muddle = async (fleet: Stale, random: Random, steps: number): Promise<void> => {
  const all = [...fleet.hands.keys()];
  for (let step = 0; step < steps; step += 1) {
    if (random.chance(0.4)) await fleet.read(random.pick(all));
    else await Promise.all([fleet.act(random.pick(all)), random.chance(0.5) ? fleet.act(random.pick(all)) : 0]);
  }
};

describe('nodes with stale views', () => {
  it.each(['equal', 'any'] as const)(
    'never undo each other for ever: loads are even soon, weights %s',
    async (weights) => {
      for (let seed = 0; seed < 30; seed += 1) {
        const random = seeded(seed);
        const fleet = new Stale(random.int(2, 6), anyShares(random, WEIGHTS[weights]));
        await muddle(fleet, random, 60);
        fleet.add('late');
        await muddle(fleet, random, 60);
        await fleet.settle(12);
        const loads = fleet.loads();
        const heaviest = Math.max(...fleet.shares.map(({ weight }) => weight));
        expect(Math.max(...loads) - Math.min(...loads), `seed ${seed}`).toBeLessThanOrEqual(heaviest);
        for (const { owner, next } of fleet.rows.leases.values())
          expect([owner === undefined, next]).toEqual([false, undefined]);
      }
    },
  );

  it('settle also with very different weights and with pins', async () => {
    // In the first two seeds, nodes asked for partitions that they would have given on if other nodes had first given them something.
    for (const seed of [2_029, 2_369, ...Array(30).keys()]) {
      const random = seeded(seed);
      const fleet = new Stale(random.int(2, 6), anyShares(random, WEIGHTS['far apart']));
      await muddle(fleet, random, 60);
      fleet.add('late');
      await muddle(fleet, random, 60);
      const all = [...fleet.hands.keys()];
      for (const { partition: name } of fleet.rows.leases.values())
        if (random.chance(0.15)) await fleet.fleets.pin(FLEET, name, random.pick(all));
      await fleet.settle(12);
      for (const { owner, pin } of fleet.rows.leases.values()) if (pin) expect(owner, `seed ${seed}`).toBe(pin);
    }
  });

  it('settle also while all views stay a few steps old', async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const random = seeded(seed);
      const fleet = new Stale(random.int(2, 6), anyShares(random, WEIGHTS.equal));
      const all = [...fleet.hands.keys()];
      // All nodes read the same state, then all act, so no node sees the actions of its round.
      for (let round = 0; round < 10; round += 1) {
        for (const me of all) await fleet.read(me);
        await Promise.all(all.map((me) => fleet.act(me)));
      }
      const { handedOver } = fleet;
      expect(await fleet.settle(0), `seed ${seed}`).toBe(0);
      expect(fleet.handedOver).toBe(handedOver);
      expect(Math.max(...fleet.loads()) - Math.min(...fleet.loads())).toBeLessThanOrEqual(1);
    }
  });
});
