import { expect, it } from 'vitest';
import { restart } from '../../bench/fleet-key/restart.ts';

it("a rolling restart costs little on the fleet's key if checkpoints have their own rows", async () => {
  const [inLeases, apart] = [await restart(24, 4_096, false), await restart(24, 4_096, true)];
  expect([inLeases.violations, apart.violations]).toEqual([[], []]);
  expect(inLeases.look).toBeGreaterThan(24);
  expect(apart.look).toBeLessThan(4);
  expect(apart.reads.units).toBeLessThan(inLeases.reads.units / 5);
  expect(apart.writes.units).toBeLessThan(inLeases.writes.units / 5);
});
