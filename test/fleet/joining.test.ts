/** Nodes that join and leave in order: real nodes over a table in memory. */
import { describe, expect, it } from 'vitest';
import { type Gate, openGate } from '../../src/virtual/gate.ts';
import { itAtLength } from '../at-length.ts';
import { key, partition } from './records.ts';
import { CYCLE, SimulatedFleet } from './simulated-fleet.ts';

/** How often a node made a call. */
const made = ({ calls }: SimulatedFleet, by: string, call: string, from = 0): number =>
  calls.slice(from).filter((each) => each.by === by && each.call === `fleets.${call}`).length;

const settled = async (fleet: SimulatedFleet): Promise<void> => {
  await fleet.until(() => fleet.isWhole);
  await fleet.pass(4 * CYCLE);
};

describe('a node that joins', () => {
  it('looks three times before it takes free partitions, then takes all', async () => {
    const fleet = new SimulatedFleet(64);
    fleet.start('a');
    await fleet.until(() => fleet.of('acquired').length > 0);
    expect(made(fleet, 'a', 'read')).toBe(3);
    await fleet.until(() => fleet.isWhole);
    expect(made(fleet, 'a', 'read')).toBe(3);
    expect(fleet.counts).toEqual({ a: 64 });
  });

  it('together with others takes its share, and no partition moves afterwards', async () => {
    const fleet = new SimulatedFleet(64);
    for (const name of ['a', 'b', 'c', 'd', 'e']) fleet.start(name);
    await settled(fleet);
    expect(Object.values(fleet.counts).sort()).toEqual([12, 13, 13, 13, 13]);
    expect([fleet.of('asked').length, fleet.of('handed-over').length]).toEqual([0, 0]);
  });

  it.each([
    { partitions: 8, before: 1, moves: 4 },
    { partitions: 64, before: 3, moves: 16 },
    { partitions: 64, before: 1, moves: 32 },
    { partitions: 7, before: 2, moves: 2 },
    { partitions: 3, before: 3, moves: 0 },
    { partitions: 1, before: 4, moves: 0 },
  ])('asks $before others for exactly $moves of $partitions, no more', async ({ before, ...of }) => {
    const fleet = new SimulatedFleet(of.partitions);
    for (let n = 0; n < before; n += 1) fleet.start(`n${n}`);
    await settled(fleet);
    fleet.start('late');
    await fleet.pass(4 * CYCLE);
    await settled(fleet);
    expect(fleet.of('asked').map(({ by }) => by)).toEqual(Array(of.moves).fill('late@1'));
    expect(fleet.of('handed-over').map(({ to }) => to)).toEqual(Array(of.moves).fill('late@1'));
    expect(fleet.of('declined')).toEqual([]);
    const counts = [...fleet.nodes.values()].map(({ working }) => working.size);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('gets a partition only after the work on it has ended', async () => {
    const fleet = new SimulatedFleet(2);
    const a = fleet.start('a');
    a.drainTakes = 7 * CYCLE;
    await settled(fleet);
    const b = fleet.start('b');
    await fleet.until(() => a.draining.size === 1);
    const [name] = a.draining.keys();
    await fleet.pass(6 * CYCLE);
    expect([a.working.size, b.working.size], 'the first node is still at work').toEqual([2, 0]);
    await settled(fleet);
    expect([[...a.working.keys()], [...b.working.keys()]]).toEqual([
      [partition(0), partition(1)].filter((each) => each !== name),
      [name],
    ]);
    expect(fleet.of('draining')).toHaveLength(1);
  });

  it('reads more often while it waits for a partition, but not for long', async () => {
    const fleet = new SimulatedFleet(2);
    const a = fleet.start('a');
    a.drainTakes = 1_000 * CYCLE;
    await settled(fleet);
    fleet.start('b');
    await fleet.until(() => a.draining.size === 1);
    const readsWithin = async (span: number): Promise<number> => {
      const before = fleet.calls.length;
      await fleet.pass(span);
      return fleet.calls.slice(before).filter(({ by, call }) => by === 'b' && call === 'fleets.read').length;
    };
    expect(await readsWithin(4 * CYCLE)).toBeGreaterThan(15);
    await fleet.pass(4 * CYCLE);
    expect(await readsWithin(20 * CYCLE)).toBeLessThan(25);
  });

  it('continues from the checkpoint of the owner before it', async () => {
    const fleet = new SimulatedFleet(2);
    const a = fleet.start('a');
    await settled(fleet);
    for (const held of a.working.values())
      await fleet.people.checkpoint('flights' as never, held, `of ${held.partition}`, 1);
    const b = fleet.start('b');
    await fleet.until(() => b.working.size === 1);
    const [name] = b.working.keys();
    expect(b.checkpoints.get(name as never)).toBe(`of ${name}`);
  });

  it('reports each join that fails, and joins when the table is back', async () => {
    const fleet = new SimulatedFleet(4);
    let isDown = true;
    fleet.start('a', {
      gate: async (_, effects) => {
        if (isDown) throw new Error('down');
        return effects.map((effect) => effect());
      },
    });
    await fleet.pass(20 * CYCLE);
    expect(fleet.of('joined')).toEqual([]);
    expect(fleet.of('store-failed').every(({ call }) => call === 'join')).toBe(true);
    isDown = false;
    await settled(fleet);
    expect(fleet.of('joined').map(({ by }) => by)).toEqual(['a@1']);
    expect(fleet.counts).toEqual({ a: 4 });
  });
});

describe('a node with slow reads', () => {
  it.each([1_000, 3_500, 4_500, 6_000])(
    'begins no handed-over partition again: work that ends after %i ms',
    async (span) => {
      const fleet = new SimulatedFleet(8);
      const a = fleet.start('a', {
        gate: async (call, effects) => {
          const answers = effects.map((effect) => effect());
          if (call === 'fleets.read') await fleet.scheduler.wait(2_000);
          return answers;
        },
      });
      a.drainTakes = span;
      await settled(fleet);
      fleet.start('b');
      await fleet.until(() => fleet.of('handed-over').length === 4);
      await settled(fleet);
      expect(
        fleet.of('acquired').filter(({ by }) => by === 'a@1'),
        'once each',
      ).toHaveLength(8);
      expect(a.dropped).toEqual([]);
    },
  );
});

describe('a node that stays', () => {
  it('moves and asks for nothing, and only writes one heartbeat a cycle', async () => {
    const fleet = new SimulatedFleet(64);
    for (const name of ['a', 'b', 'c', 'd']) fleet.start(name);
    await settled(fleet);
    const [reported, calls] = [fleet.reported.length, fleet.calls.length];
    const cycles = 360;
    await fleet.pass(cycles * CYCLE);
    expect(fleet.reported.length - reported, 'events').toBe(0);
    for (const name of ['a', 'b', 'c', 'd']) {
      const beats = made(fleet, name, 'beat', calls);
      expect(beats / cycles).toBeGreaterThan(0.97);
      expect(beats / cycles).toBeLessThan(1.03);
    }
    expect(new Set(fleet.calls.slice(calls).map(({ call }) => call))).toEqual(new Set(['fleets.read', 'fleets.beat']));
  });

  it('sends heartbeats no more often if it has much to hand over', async () => {
    const fleet = new SimulatedFleet(256);
    fleet.start('a').drainTakes = 300;
    await settled(fleet);
    const [calls, from] = [fleet.calls.length, fleet.scheduler.now];
    for (const name of ['b', 'c', 'd']) fleet.start(name);
    await fleet.until(() => fleet.of('handed-over').length === 192);
    const cycles = (fleet.scheduler.now - from) / CYCLE;
    expect(made(fleet, 'a', 'beat', calls)).toBeLessThanOrEqual(Math.ceil(cycles / 0.9));
  });
});

describe('a node that leaves', () => {
  it('gives each partition to the node that asks, then its row goes', async () => {
    const fleet = new SimulatedFleet(9);
    const [a] = ['a', 'b', 'c'].map((name) => fleet.start(name));
    await settled(fleet);
    const calls = fleet.calls.length;
    a?.leave();
    await fleet.until(() => a?.hasLeft === true);
    expect(fleet.rows.nodes.map((node) => node.key).sort()).toEqual([key('b'), key('c')]);
    expect(
      fleet
        .of('handed-over')
        .map(({ by, to }) => `${by} ${to}`)
        .sort(),
    ).toEqual(['a@1 b@1', 'a@1 b@1', 'a@1 c@1']);
    expect(made(fleet, 'a', 'beat', calls), 'one more heartbeat reports that it leaves').toBeLessThanOrEqual(3);
    await settled(fleet);
    expect(fleet.counts).toEqual({ b: 5, c: 4 });
    expect(fleet.of('asked')).toHaveLength(3);
    expect(fleet.of('evicted-another')).toEqual([]);
  });

  it.each([0, 200, 3_000, 15_000])(
    'leaves no partition without work for over 0.5 s: drains take %i ms',
    async (span) => {
      const fleet = new SimulatedFleet(32);
      const [a] = ['a', 'b', 'c', 'd'].map((name) => fleet.start(name));
      await settled(fleet);
      await fleet.pass(20 * CYCLE);
      if (a) a.drainTakes = span;
      a?.leave();
      await fleet.until(() => a?.hasLeft === true);
      await settled(fleet);
      const begun = new Map<string, number>(fleet.of('acquired').map(({ partition, at }) => [partition, at]));
      const gaps = fleet.of('handed-over').map(({ partition, at }) => (begun.get(partition) ?? Number.NaN) - at);
      expect(gaps).toHaveLength(8);
      expect(Math.max(...gaps)).toBeLessThan(500);
    },
  );

  itAtLength('makes at most eight calls at a time, even with 4,096 partitions', async () => {
    const fleet = new SimulatedFleet(4_096);
    const underWay = { a: 0, b: 0 };
    let most = 0;
    const counting =
      (name: 'a' | 'b'): Gate =>
      async (call, effects) => {
        if (call === 'fleets.read' || call === 'fleets.beat' || call === 'fleets.join') return openGate(call, effects);
        underWay[name] += 1;
        most = Math.max(most, underWay[name]);
        await fleet.scheduler.wait(20);
        underWay[name] -= 1;
        return openGate(call, effects);
      };
    const [a] = (['a', 'b'] as const).map((name) => fleet.start(name, { gate: counting(name) }));
    await settled(fleet);
    a?.leave();
    await fleet.until(() => a?.hasLeft === true);
    await settled(fleet);
    expect(fleet.counts).toEqual({ b: 4_096 });
    expect(fleet.of('handed-over').length).toBeGreaterThanOrEqual(2_048);
    expect(most).toBe(8);
  });

  it('during a heartbeat reports that at once with another one', async () => {
    const fleet = new SimulatedFleet(2);
    const a = fleet.start('a');
    a.drainTakes = 20_000;
    await settled(fleet);
    const beats = made(fleet, 'a', 'beat');
    await fleet.until(() => made(fleet, 'a', 'beat') === beats + 1);
    expect(fleet.rows.nodes[0]?.beat, 'the heartbeat has not reached the table').toBe(beats);
    a.leave();
    await fleet.pass(CYCLE / 5);
    expect([made(fleet, 'a', 'beat'), fleet.rows.nodes[0]?.leaving]).toEqual([beats + 2, true]);
  });

  it('reports once that it has left', async () => {
    const fleet = new SimulatedFleet(2);
    const a = fleet.start('a');
    await settled(fleet);
    a.leave();
    a.leave();
    await fleet.until(() => a.hasLeft);
    expect(fleet.of('left').map(({ by }) => by)).toEqual(['a@1']);
    expect(fleet.of('evicted')).toEqual([]);
  });

  it('before it takes a partition leaves at once, and its row is deleted', async () => {
    const fleet = new SimulatedFleet(4);
    const a = fleet.start('a');
    await fleet.until(() => fleet.of('joined').length === 1);
    a.leave();
    await fleet.until(() => a.hasLeft);
    expect(fleet.rows.nodes).toEqual([]);
    expect(fleet.of('acquired')).toEqual([]);
  });

  it('before it can join ends without a row', async () => {
    const fleet = new SimulatedFleet(4);
    const a = fleet.start('a');
    a.leave();
    await fleet.pass(4 * CYCLE);
    expect([a.hasLeft, fleet.rows.nodes]).toEqual([true, []]);
  });

  it('while it joins leaves as soon as it has joined', async () => {
    const fleet = new SimulatedFleet(4);
    const a = fleet.start('a');
    await fleet.until(() => fleet.calls.length === 1);
    a.leave();
    await fleet.until(() => a.hasLeft);
    expect([fleet.of('joined').length, fleet.of('left').length, fleet.rows.nodes.length]).toEqual([1, 1, 0]);
  });

  it('waits for its work, and drops what has not ended in time', async () => {
    const fleet = new SimulatedFleet(4);
    const [a, b] = [fleet.start('a'), fleet.start('b')];
    await settled(fleet);
    a.drainTakes = Infinity;
    a.leave();
    await fleet.pass(25_000);
    expect([a.hasLeft, a.working.size, b.working.size], 'some seconds are left').toEqual([false, 2, 2]);
    await fleet.until(() => a.hasLeft);
    expect(a.dropped.map(({ reason }) => reason)).toEqual(['drain-timeout', 'drain-timeout']);
    expect(a.working.size).toBe(0);
    await settled(fleet);
    expect(fleet.counts, 'once the node is silent').toEqual({ b: 4 });
    expect(fleet.of('evicted-another').map(({ other }) => other)).toEqual(['a@1']);
  });

  it('with all others leaves only free partitions for the next node', async () => {
    const fleet = new SimulatedFleet(16);
    const nodes = ['a', 'b', 'c', 'd'].map((name) => fleet.start(name));
    await settled(fleet);
    for (const node of nodes) node.leave();
    await fleet.until(() => nodes.every(({ hasLeft }) => hasLeft));
    expect(fleet.rows.nodes).toEqual([]);
    expect(fleet.rows.leases.map(({ owner }) => owner)).toEqual(Array(16).fill(undefined));
    fleet.start('e');
    await settled(fleet);
    expect(fleet.counts).toEqual({ e: 16 });
  });
});
