import { expect, it } from 'vitest';
import { compare } from '../../bench/agreement/compare.ts';
import type { Seen } from '../../bench/agreement/seen.ts';
import { inBursts } from '../../bench/agreement/traces.ts';

it('calls and units of a simulated trace are those of the local stack', async () => {
  const { tasks, ran, simulated } = await compare(inBursts(1));
  expect([ran.tasks, simulated.tasks]).toEqual([tasks, tasks]);
  expect(simulated.calls).toBe(ran.calls);
  const all = ({ writeUnits, readUnits }: Seen): number => writeUnits + readUnits;
  expect(Math.abs(all(simulated) / all(ran) - 1)).toBeLessThanOrEqual(0.02);
  // Which messages come together, and so how many locks are read, is a matter of some milliseconds.
  expect(Math.abs(simulated.readUnits / ran.readUnits - 1)).toBeLessThanOrEqual(0.2);
}, 120_000);
