/** Nodes that share different partitions, as while a new configuration is deployed. */
import { describe, expect, it } from 'vitest';
import { shares } from './records.ts';
import { CYCLE, SimulatedFleet } from './simulated-fleet.ts';

describe('old and new nodes', () => {
  it.each([
    { old: { nodes: 3, partitions: 8 }, young: { nodes: 1, partitions: 12 } },
    { old: { nodes: 1, partitions: 8 }, young: { nodes: 3, partitions: 12 } },
    { old: { nodes: 3, partitions: 12 }, young: { nodes: 2, partitions: 24 } },
    { old: { nodes: 2, partitions: 24 }, young: { nodes: 3, partitions: 12 } },
    { old: { nodes: 4, partitions: 64 }, young: { nodes: 4, partitions: 96 } },
  ])('$old and $young: all partitions are worked on, and then none moves', async ({ old, young }) => {
    const fleet = new SimulatedFleet(Math.max(old.partitions, young.partitions));
    const before = Array.from({ length: old.nodes }, (_, n) =>
      fleet.start(`old${n}`, { shares: shares(old.partitions) }),
    );
    await fleet.pass(10 * CYCLE);
    const after = Array.from({ length: young.nodes }, (_, n) =>
      fleet.start(`new${n}`, { shares: shares(young.partitions) }),
    );
    await fleet.until(() => fleet.isWhole);
    await fleet.pass(40 * CYCLE);
    const reported = fleet.reported.length;
    await fleet.pass(100 * CYCLE);
    expect(fleet.reported.slice(reported), 'no node asks, declines or gives').toEqual([]);
    expect(fleet.isWhole).toBe(true);
    for (const node of before) node.leave();
    await fleet.until(() => before.every(({ hasLeft }) => hasLeft));
    await fleet.pass(20 * CYCLE);
    const counts = after.map(({ working }) => working.size);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(young.partitions);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    expect(fleet.of('evicted')).toEqual([]);
  });

  it('that replace each other lose no partition and never work on one twice', async () => {
    const fleet = new SimulatedFleet(64);
    const old = ['a', 'b', 'c', 'd'].map((name) => fleet.start(name));
    await fleet.until(() => fleet.isWhole);
    for (const [n, node] of old.entries()) {
      fleet.start(`new${n}`);
      await fleet.pass(4 * CYCLE);
      node.leave();
      await fleet.until(() => node.hasLeft);
      expect(fleet.workedTwice).toEqual([]);
    }
    await fleet.until(() => fleet.isWhole);
    await fleet.pass(10 * CYCLE);
    expect(fleet.counts).toEqual({ new0: 16, new1: 16, new2: 16, new3: 16 });
    expect([fleet.of('evicted').length, fleet.of('declined').length]).toEqual([0, 0]);
  });
});
