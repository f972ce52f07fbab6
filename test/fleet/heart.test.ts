import { expect, it } from 'vitest';
import { Heart } from '../../src/fleet/heart.ts';
import { type FleetName, type NodeId, nodeKey } from '../../src/fleet/ids.ts';
import { memoryFleets } from '../../src/simulation/memory-fleets.ts';

it('P7: who joins in a second try may have been seen since the first', async () => {
  let now = 0;
  let tries = 0;
  const fleets = memoryFleets();
  const deadlines: number[] = [];
  const heart = new Heart(
    nodeKey('me' as NodeId, '1'),
    {
      fleets: {
        ...fleets,
        join: async (fleet, node) => {
          await fleets.join(fleet, node);
          tries += 1;
          if (tries === 1) throw new Error('the answer was lost');
        },
      },
      clock: { now: () => now, wall: () => 0, sleep: async () => {}, random: () => 0.5 },
      work: {
        begin: () => {},
        drain: () => {},
        drop: () => {},
        mayUntil: (deadline) => void deadlines.push(deadline),
        silentFor: () => 0,
      },
      report: () => {},
    },
    { fleet: 'f' as FleetName, shares: [], cycle: 5_000, maxBlocked: 60_000, leaveWithin: 30_000 },
  );
  expect(await heart.join()).toBe('unknown');
  now = 12_000;
  expect(await heart.join()).toBe('alive');
  // Two thirds of 30 s.
  expect(deadlines).toEqual([20_000]);
});
