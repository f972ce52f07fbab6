import { expect, it } from 'vitest';
import { compare } from '../../bench/agreement/compare.ts';

it('calls and units of a simulated trace are those of the local stack', async () => {
  const { tasks, ran, simulated } = await compare(2);
  expect([ran.tasks, simulated.tasks]).toEqual([tasks, tasks]);
  expect(simulated.calls).toBe(ran.calls);
  const apart = (of: 'writeUnits' | 'readUnits'): number => Math.abs(simulated[of] / ran[of] - 1);
  expect(apart('writeUnits')).toBeLessThanOrEqual(0.02);
  expect(apart('readUnits')).toBeLessThanOrEqual(0.1);
}, 120_000);
