import { expect, it } from 'vitest';
import { compare } from '../../bench/agreement/compare.ts';
import { inBursts } from '../../bench/agreement/traces.ts';

it('calls and units of a simulated trace are those of the local stack', async () => {
  const { tasks, ran, simulated } = await compare(inBursts(1));
  expect([ran.tasks, simulated.tasks]).toEqual([tasks, tasks]);
  expect(simulated.calls).toBe(ran.calls);
  expect(Math.abs(simulated.writeUnits / ran.writeUnits - 1)).toBeLessThanOrEqual(0.02);
  // Each message that comes alone reads a lock of its own: how many do is a matter of some milliseconds, and so of what
  // else the machine does. `npm run bench:agreement` compares them on one that has nothing else to do.
  expect(ran.readUnits / simulated.readUnits).toBeGreaterThan(0.8);
  expect(ran.readUnits / simulated.readUnits).toBeLessThan(2);
}, 120_000);
