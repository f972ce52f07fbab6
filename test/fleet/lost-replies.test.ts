/** A store that fails before a call takes effect, or after it, when only its answer is lost. */
import { describe, expect, it } from 'vitest';
import { faulty, type When } from './faulty-gate.ts';
import { FLEET } from './records.ts';
import { CYCLE, SimulatedFleet, TTL } from './simulated-fleet.ts';

/** Lets time pass, and returns in how many moments two nodes could have worked on one partition. */
const watched = async (fleet: SimulatedFleet, span: number): Promise<number> => {
  let twice = 0;
  for (const until = fleet.scheduler.now + span; fleet.scheduler.now < until; ) {
    await fleet.pass(200);
    twice += Number(fleet.workedTwice.length > 0);
  }
  return twice;
};

const even = (fleet: SimulatedFleet): boolean => {
  const counts = Object.values(fleet.counts);
  return fleet.isWhole && Math.max(...counts) - Math.min(...counts) <= 1;
};

const CALLS = ['join', 'beat', 'read', 'take', 'ask', 'decline', 'handOver', 'evict', 'leave'] as const;

describe.each(['before', 'after'] as const)('a call that fails %s its effect,', (when: When) => {
  it.each(CALLS)('%s: later all is worked on again, by one node each', async (call) => {
    const fleet = new SimulatedFleet(12);
    const faults = ['a', 'b', 'c', 'd'].map((name) => {
      const fault = faulty({ call, when, times: 3 });
      fleet.start(name, { gate: fault.gate });
      return fault;
    });
    const [a, b] = [...fleet.nodes.values()];
    let twice = await watched(fleet, 10 * CYCLE);
    // A node leaves, one joins, one dies, and nodes ask for partitions that are not given.
    a?.leave();
    twice += await watched(fleet, 6 * CYCLE);
    const late = faulty({ call, when, times: 3 });
    fleet.start('e', { gate: late.gate });
    twice += await watched(fleet, 6 * CYCLE);
    await askInVain(fleet);
    twice += await watched(fleet, 3 * CYCLE);
    if (b) b.blockedSince = fleet.scheduler.now - TTL * 10;
    twice += await watched(fleet, 6 * TTL);
    await fleet.until(() => even(fleet));
    expect(fleet.of('store-failed').filter((each) => each.call !== call)).toEqual([]);
    expect([...faults, late].reduce((sum, { failed }) => sum + failed(), 0)).toBeGreaterThan(0);
    expect(twice, 'moments in which two nodes could work on one partition').toBe(0);
    await fleet.until(() => a?.hasLeft === true);
    expect(
      fleet.of('evicted').map(({ by }) => by),
      'no other node was evicted',
    ).toEqual(['b@1']);
    await fleet.pass(TTL);
    const reported = fleet.of('acquired').length;
    await fleet.pass(20 * CYCLE);
    expect(fleet.of('acquired'), 'no partition moves any more').toHaveLength(reported);
  });
});

/** The node with the most partitions asks every other node for one. */
const askInVain = async (fleet: SimulatedFleet): Promise<void> => {
  const { leases, nodes } = fleet.rows;
  const count = (of: string | undefined) => leases.filter(({ owner }) => owner === of).length;
  const [most] = nodes.toSorted((one, other) => count(other.key) - count(one.key));
  for (const { key } of nodes) {
    const lease = leases.find(({ owner }) => owner === key);
    if (lease && most && most.key !== key) await fleet.people.ask(FLEET, lease, most.key);
  }
};

describe('a store that fails', () => {
  it('for less than two thirds of a Ttl stops no node and moves no partition', async () => {
    const fleet = new SimulatedFleet(16);
    let isDown = false;
    const { gate } = faulty({ when: 'before', isOn: () => isDown });
    const nodes = ['a', 'b', 'c'].map((name) => fleet.start(name, { gate }));
    await fleet.until(() => fleet.isWhole);
    await fleet.pass(4 * CYCLE);
    const acquired = fleet.of('acquired').length;
    isDown = true;
    await fleet.pass(12_000);
    expect(nodes.map(({ mayWork }) => mayWork)).toEqual([true, true, true]);
    isDown = false;
    await fleet.pass(30 * CYCLE);
    expect(fleet.of('acquired')).toHaveLength(acquired);
    expect(fleet.of('evicted')).toEqual([]);
    expect(nodes.flatMap(({ dropped }) => dropped)).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'for ten minutes (%s the effect) stops all nodes, which then resume',
    async (when) => {
      const fleet = new SimulatedFleet(16);
      let isDown = false;
      const { gate } = faulty({ when, isOn: () => isDown });
      const nodes = ['a', 'b', 'c'].map((name) => fleet.start(name, { gate }));
      await fleet.until(() => fleet.isWhole);
      await fleet.pass(4 * CYCLE);
      const before = fleet.counts;
      isDown = true;
      await fleet.pass(600_000);
      expect(
        nodes.map(({ mayWork }) => mayWork),
        'past the deadline',
      ).toEqual([false, false, false]);
      isDown = false;
      await fleet.until(() => nodes.every(({ mayWork }) => mayWork));
      await fleet.pass(30 * CYCLE);
      expect([fleet.isWhole, fleet.counts]).toEqual([true, before]);
      expect(fleet.of('evicted')).toEqual([]);
    },
  );

  it('for one node lets the others take over, until that node comes back', async () => {
    const fleet = new SimulatedFleet(12);
    let isDown = false;
    const { gate } = faulty({ when: 'before', isOn: () => isDown });
    const cut = fleet.start('a', { gate });
    for (const name of ['b', 'c']) fleet.start(name);
    await fleet.until(() => fleet.isWhole);
    await fleet.pass(4 * CYCLE);
    isDown = true;
    expect(await watched(fleet, 3 * TTL)).toBe(0);
    expect(fleet.rows.leases.filter(({ owner }) => owner === 'a@1')).toEqual([]);
    isDown = false;
    await fleet.until(() => cut.lives.length === 2 && even(fleet) && cut.working.size === 4);
    expect(fleet.of('evicted').map(({ by }) => by)).toEqual(['a@1']);
    expect(cut.dropped.map(({ reason }) => reason)).toEqual(Array(4).fill('evicted'));
  });
});

describe('a node that leaves', () => {
  it('has left even if the answer to the deletion of its row is lost', async () => {
    const fleet = new SimulatedFleet(4);
    const { gate } = faulty({ call: 'leave', when: 'after' });
    const a = fleet.start('a', { gate });
    await fleet.until(() => fleet.isWhole);
    const from = fleet.scheduler.now;
    a.leave();
    await fleet.until(() => a.hasLeft);
    expect(fleet.scheduler.now - from, 'at the next look').toBeLessThan(2 * CYCLE);
    expect([fleet.of('left').length, fleet.of('evicted').length]).toEqual([1, 0]);
  });

  it('leaves in time even if it cannot give away what it never began', async () => {
    const fleet = new SimulatedFleet(2);
    const { gate } = faulty({ call: 'handOver', when: 'before' });
    fleet.start('a');
    await fleet.until(() => fleet.isWhole);
    const b = fleet.start('b', { gate });
    await fleet.until(() => fleet.rows.leases.some(({ owner }) => owner === b.life));
    expect(b.working.size).toBe(0);
    const from = fleet.scheduler.now;
    b.leave();
    await fleet.until(() => b.hasLeft);
    expect(fleet.scheduler.now - from, '30 s and a look').toBeLessThan(30_000 + 2 * CYCLE);
    expect([b.working.size, fleet.of('acquired').filter(({ by }) => by === b.life)]).toEqual([0, []]);
    await fleet.until(() => fleet.isWhole);
  });

  it('and is evicted meanwhile does not wait for its return', async () => {
    const fleet = new SimulatedFleet(4);
    const a = fleet.start('a');
    await fleet.until(() => fleet.isWhole);
    a.drainTakes = Infinity;
    a.leave();
    await fleet.until(() => a.draining.size === 4);
    const from = fleet.scheduler.now;
    const [row] = fleet.rows.nodes;
    await fleet.people.evict(FLEET, a.life, row?.beat ?? -1, from);
    await fleet.until(() => a.hasLeft);
    expect(fleet.scheduler.now - from).toBeLessThan(2 * CYCLE);
    expect(a.dropped.map(({ reason }) => reason)).toEqual(Array(4).fill('evicted'));
    expect(
      fleet.rows.nodes.map(({ evicted }) => evicted),
      'no node reads that row any more',
    ).toEqual([true]);
  });
});
