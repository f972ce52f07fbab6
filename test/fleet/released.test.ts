/** Partitions that a node gives up because their work ended by itself. */
import { describe, expect, it } from 'vitest';
import { type Released, released, restingAt } from '../../src/domain/fleets/released.ts';
import { partition } from './records.ts';
import { CYCLE, SimulatedFleet, type SimulatedNode } from './simulated-fleet.ts';

const P = partition(0);
const MINUTE = 60_000;

describe('a released partition', () => {
  it('is left to others for 1, 2, 4, … at most 60 minutes', () => {
    let [all, now]: [Released, number] = [new Map(), 0];
    const spans = Array.from({ length: 9 }, () => {
      all = released(all, P, now);
      const { until, span } = all.get(P) ?? { until: 0, span: 0 };
      expect([restingAt(all, now).has(P), restingAt(all, until - 1).has(P), restingAt(all, until).size]).toEqual([
        true,
        true,
        0,
      ]);
      now = until + 1_000;
      return span / MINUTE;
    });
    expect(spans).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('that was worked on for long afterwards rests for a minute again', () => {
    const once = released(released(new Map(), P, 0), P, MINUTE);
    expect(once.get(P)?.span).toBe(2 * MINUTE);
    expect(released(once, P, 10 * MINUTE).get(P)?.span).toBe(MINUTE);
  });

  it('goes to another node, and not at once back', async () => {
    const fleet = new SimulatedFleet(2);
    const [a, b] = ['a', 'b'].map((name) => fleet.start(name)) as [SimulatedNode, SimulatedNode];
    await fleet.until(() => fleet.isWhole && fleet.counts.a === 1 && fleet.counts.b === 1);
    const [its] = [...a.working.values()];
    if (!its) throw new Error('node a has no partition');
    a.finish(its);
    await fleet.until(() => b.working.size === 2);
    expect(fleet.of('acquired').filter(({ partition }) => partition === its.partition)).toHaveLength(2);
  });

  it('of the only node is taken again after a minute', async () => {
    const fleet = new SimulatedFleet(1);
    const a = fleet.start('a');
    await fleet.until(() => fleet.isWhole);
    const from = fleet.scheduler.now;
    a.finish([...a.working.values()][0] as never);
    await fleet.until(() => fleet.of('acquired').length === 2);
    expect(fleet.scheduler.now - from).toBeGreaterThan(MINUTE);
    expect(fleet.scheduler.now - from).toBeLessThan(MINUTE + 2 * CYCLE);
  });
});
