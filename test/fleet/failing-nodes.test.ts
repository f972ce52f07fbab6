/** Nodes that die, are evicted, or are blocked: real nodes over a table in memory. */
import { describe, expect, it } from 'vitest';
import { FLEET } from './records.ts';
import { CYCLE, SimulatedFleet, type SimulatedNode, TTL } from './simulated-fleet.ts';

const settled = async (partitions: number, ...names: string[]) => {
  const fleet = new SimulatedFleet(partitions);
  const nodes = names.map((name) => fleet.start(name));
  await fleet.until(() => fleet.isWhole);
  await fleet.pass(6 * CYCLE);
  return { fleet, nodes: nodes as [SimulatedNode, ...SimulatedNode[]] };
};

/** Other nodes evict the node's newest life. */
const evict = async (fleet: SimulatedFleet, { life }: SimulatedNode): Promise<void> => {
  const row = fleet.rows.nodes.find(({ key }) => key === life);
  expect(await fleet.people.evict(FLEET, life, row?.beat ?? -1, 0)).toBe(true);
};

describe('a node that dies', () => {
  it.each([
    { partitions: 64, others: ['b', 'c', 'd'], lost: 16 },
    { partitions: 7, others: ['b', 'c'], lost: 2 },
    { partitions: 5, others: ['b'], lost: 2 },
  ])('loses its share of $partitions partitions to the others; no other moves', async ({ others, ...of }) => {
    const { fleet, nodes } = await settled(of.partitions, ...others, 'dies');
    const dies = nodes.at(-1) as SimulatedNode;
    const [acquired, its, from] = [fleet.of('acquired').length, [...dies.working.keys()].sort(), fleet.scheduler.now];
    expect(its).toHaveLength(of.lost);
    dies.crash();
    await fleet.until(() => fleet.isWhole);
    expect(fleet.scheduler.now - from, 'its Ttl and a few looks').toBeLessThanOrEqual(1.2 * TTL + 3 * CYCLE);
    await fleet.pass(10 * CYCLE);
    expect(
      fleet
        .of('acquired')
        .slice(acquired)
        .map(({ partition }) => partition)
        .sort(),
    ).toEqual(its);
    expect([fleet.of('asked').length, fleet.of('handed-over').length]).toEqual([0, 0]);
    expect(
      fleet.of('evicted-another').map(({ other }) => other),
      'by one node',
    ).toEqual([dies.life]);
  });

  it('before it takes what it asked for leaves that with the owner', async () => {
    const { fleet, nodes } = await settled(4, 'a');
    const [a] = nodes;
    a.drainTakes = 20 * CYCLE;
    const b = fleet.start('b');
    await fleet.until(() => fleet.of('draining').length === 2);
    b.crash();
    await fleet.until(() => fleet.of('evicted-another').length === 1);
    await fleet.pass(30 * CYCLE);
    expect([fleet.isWhole, fleet.counts]).toEqual([true, { a: 4 }]);
  });

  it('with all others leaves the partitions to the next node that joins', async () => {
    const { fleet, nodes } = await settled(12, 'a', 'b', 'c');
    for (const node of nodes) node.crash();
    await fleet.pass(3 * TTL);
    fleet.start('d');
    await fleet.until(() => fleet.isWhole);
    expect(fleet.counts).toEqual({ d: 12 });
    expect(
      fleet
        .of('evicted-another')
        .map(({ other }) => other)
        .sort(),
    ).toEqual(['a@1', 'b@1', 'c@1']);
  });
});

describe('an evicted node', () => {
  it('drops all at its next heartbeat or look, and takes nothing back', async () => {
    const { fleet, nodes } = await settled(9, 'a', 'b', 'c');
    const [a] = nodes;
    await evict(fleet, a);
    await fleet.until(() => fleet.of('evicted').length === 1);
    expect(a.working.size).toBe(0);
    expect(a.dropped.map(({ reason }) => reason)).toEqual(['evicted', 'evicted', 'evicted']);
    await fleet.until(() => fleet.isWhole);
    expect(fleet.counts.a).toBeUndefined();
    await fleet.until(() => !fleet.rows.nodes.some(({ key }) => key === 'a@1'));
    expect(fleet.rows.nodes.map(({ key }) => key).sort()).toEqual(['b@1', 'c@1']);
  });

  it('begins none of the partitions that it is about to take', async () => {
    const fleet = new SimulatedFleet(4);
    const a = fleet.start('a', {
      gate: async (call, effects) => {
        const answers = effects.map((effect) => effect());
        if (call === 'fleets.take') await fleet.scheduler.wait(4 * CYCLE);
        return answers;
      },
    });
    await fleet.until(() => fleet.rows.leases.length === 4);
    await evict(fleet, a);
    await fleet.pass(5 * CYCLE);
    expect([fleet.of('evicted').length, fleet.of('acquired'), a.working.size]).toEqual([1, [], 0]);
    await fleet.until(() => fleet.isWhole);
    expect(fleet.rows.leases.map(({ owner, fence }) => [owner, fence])).toEqual(Array(4).fill(['a@2', 2]));
  });

  it('stays away 6 cycles, then 12, 24, …, and returns with a new epoch', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const [a] = nodes;
    const away: number[] = [];
    for (let life = 1; life <= 6; life += 1) {
      await evict(fleet, a);
      await fleet.until(() => fleet.of('evicted').length === life);
      const since = fleet.scheduler.now;
      await fleet.until(() => fleet.of('joined').filter(({ by }) => by === `a@${life + 1}`).length === 1);
      away.push(Math.round((fleet.scheduler.now - since) / CYCLE));
      await fleet.until(() => a.working.size === 2);
    }
    expect(away).toEqual([6, 12, 24, 48, 96, 180]);
    expect(a.lives).toEqual(['a@1', 'a@2', 'a@3', 'a@4', 'a@5', 'a@6', 'a@7']);
    expect(fleet.of('evicted').map((each) => each.away / CYCLE)).toEqual(away);
  });

  it('stays away no longer than at first if an hour has passed', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    for (const pause of [0, 3_600_000]) {
      await fleet.pass(pause);
      await evict(fleet, nodes[0]);
      await fleet.until(() => nodes[0].working.size === 0);
      await fleet.until(() => nodes[0].working.size === 2);
    }
    expect(fleet.of('evicted').map(({ away }) => away)).toEqual([6 * CYCLE, 6 * CYCLE]);
  });

  it('that should leave while it stays away leaves at once', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const [a] = nodes;
    await evict(fleet, a);
    await fleet.until(() => fleet.of('evicted').length === 1);
    await fleet.pass(2 * CYCLE);
    a.leave();
    await fleet.pass(1);
    expect(a.hasLeft).toBe(true);
    expect(a.lives).toEqual(['a@1']);
  });
});

describe('a blocked node', () => {
  const block = ({ scheduler }: SimulatedFleet, node: SimulatedNode) => {
    node.blockedSince = scheduler.now;
  };
  const beats = ({ calls }: SimulatedFleet, by: string) =>
    calls.filter((each) => each.by === by && each.call === 'fleets.beat').length;

  it('that recovers within maxBlocked goes on as before', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const reported = fleet.reported.length;
    block(fleet, nodes[0]);
    await fleet.pass(55_000);
    nodes[0].blockedSince = undefined;
    await fleet.pass(2 * TTL);
    expect(fleet.reported.slice(reported)).toEqual([]);
  });

  it('for longer stops its heartbeats, reports that once, and loses all', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const [a] = nodes;
    block(fleet, a);
    await fleet.until(() => fleet.of('blocked').length === 1);
    const before = beats(fleet, 'a');
    await fleet.until(() => !a.mayWork);
    expect(a.working.size, 'the partitions are still its own').toBe(2);
    await fleet.until(() => fleet.of('evicted').length === 1);
    await fleet.pass(5 * TTL);
    expect(beats(fleet, 'a')).toBe(before);
    expect(fleet.of('blocked')).toHaveLength(1);
    expect([fleet.isWhole, fleet.counts]).toEqual([true, { b: 4 }]);
    expect(a.lives, 'it does not come back while it is blocked').toEqual(['a@1']);
    a.blockedSince = undefined;
    await fleet.until(() => fleet.counts.a === 2);
    expect(a.lives).toEqual(['a@1', 'a@2']);
  });

  it('that recovers before it is evicted sends heartbeats again and keeps all', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const [a] = nodes;
    block(fleet, a);
    await fleet.until(() => fleet.of('blocked').length === 1);
    await fleet.pass(2 * CYCLE);
    const before = beats(fleet, 'a');
    a.blockedSince = undefined;
    await fleet.pass(6 * TTL);
    expect(beats(fleet, 'a')).toBeGreaterThan(before);
    expect([a.lives, fleet.counts, fleet.of('asked').length]).toEqual([['a@1'], { a: 2, b: 2 }, 0]);
  });

  it('without other nodes keeps all, however long that takes', async () => {
    const { fleet, nodes } = await settled(4, 'a');
    const [a] = nodes;
    block(fleet, a);
    await fleet.pass(3_600_000);
    a.blockedSince = undefined;
    await fleet.until(() => a.mayWork);
    expect([a.lives, a.working.size, a.dropped]).toEqual([['a@1'], 4, []]);
  });
});

describe('a person', () => {
  it('can drain a node, which gives all away and stays, and can undo that', async () => {
    const { fleet, nodes } = await settled(9, 'a', 'b', 'c');
    await fleet.people.drain(FLEET, nodes[0].life, true);
    await fleet.until(() => fleet.isWhole && fleet.counts.a === undefined);
    expect(Object.values(fleet.counts).sort()).toEqual([4, 5]);
    expect(fleet.of('handed-over').every(({ to }) => to !== undefined)).toBe(true);
    await fleet.people.drain(FLEET, nodes[0].life, false);
    await fleet.until(() => fleet.isWhole && fleet.counts.a === 3);
    expect(fleet.of('handed-over').filter(({ by }) => by !== 'a@1')).toHaveLength(3);
    expect(fleet.of('joined')).toHaveLength(3);
  });

  it('can pin a partition to a node, which keeps it until that node is gone', async () => {
    const { fleet, nodes } = await settled(4, 'a', 'b');
    const [a, b] = nodes as [SimulatedNode, SimulatedNode];
    const [name] = [...a.working.keys()];
    await fleet.people.pin(FLEET, name as never, b.life);
    await fleet.until(() => fleet.isWhole && b.working.has(name as never));
    await fleet.pass(20 * CYCLE);
    expect(fleet.counts, 'another partition went back in exchange').toEqual({ a: 2, b: 2 });
    expect(b.working.has(name as never)).toBe(true);
    expect(fleet.of('handed-over')).toHaveLength(2);
    b.leave();
    await fleet.until(() => fleet.counts.a === 4);
  });
});
