import { expect, it } from 'vitest';
import { type FleetName, type NodeId, nodeKey } from '../../src/domain/fleets/ids.ts';
import { Heartbeat } from '../../src/fleet/heartbeat.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';
import type { Fleets } from '../../src/ports/fleets.ts';

const heartOf = (fleets: Fleets, now: () => number, deadlines: number[]): Heartbeat =>
  new Heartbeat(
    nodeKey('me' as NodeId, '1'),
    {
      fleets,
      clock: { now, wall: () => 0, sleep: async () => {}, random: () => 0.5 },
      work: {
        begin: () => {},
        drain: () => {},
        drop: () => {},
        mayUntil: (deadline) => void deadlines.push(deadline),
        silentFor: () => 0,
      },
      report: () => {},
    },
    {
      fleet: 'f' as FleetName,
      shares: [],
      cycle: 5_000,
      maxBlocked: 60_000,
      restartWithin: 0,
      notice: 10_000,
      leaveWithin: 30_000,
    },
  );

it('a heartbeat with a lost answer counts from its sending once a read shows it (P7)', async () => {
  let now = 0;
  const fleets = memoryFleets();
  const deadlines: number[] = [];
  const heart = heartOf(
    {
      ...fleets,
      beat: async (fleet, beat) => {
        await fleets.beat(fleet, beat);
        throw new Error('the answer was lost');
      },
    },
    () => now,
    deadlines,
  );
  await heart.join();
  for (const at of [5_000, 10_000]) {
    now = at;
    expect(await heart.beat(false)).toBe('unknown');
  }
  // Until then, the deadline of the join applies.
  expect(deadlines.at(-1)).toBe(20_000);
  heart.seen(1);
  expect(deadlines.at(-1)).toBe(25_000);
  heart.seen(2);
  expect(deadlines.at(-1)).toBe(30_000);
  heart.seen(1);
  heart.seen(7);
  expect(deadlines.at(-1)).toBe(30_000);
});

it('a long gap between heartbeats raises the Ttl for ten minutes (P7)', async () => {
  let now = 0;
  const ttls: number[] = [];
  const fleets = memoryFleets();
  const heart = heartOf(
    {
      ...fleets,
      beat: (fleet, beat) => {
        ttls.push(beat.ttl);
        return fleets.beat(fleet, beat);
      },
    },
    () => now,
    [],
  );
  await heart.join();
  for (now = 20_000; now <= 640_000; now += 5_000) await heart.beat(false);
  // The gap of 20 s ended with the first heartbeat, at 20 s. It counts for the heartbeats at 25 s to 620 s.
  const usual = 6 * 5_000;
  const long = 6 * 20_000;
  expect(ttls).toEqual([usual, ...Array.from({ length: 120 }, () => long), usual, usual, usual, usual]);
});

it('the deadline of a repeated join counts from the first attempt (P7)', async () => {
  let now = 0;
  let tries = 0;
  const fleets = memoryFleets();
  const deadlines: number[] = [];
  const heart = heartOf(
    {
      ...fleets,
      join: async (fleet, node) => {
        await fleets.join(fleet, node);
        tries += 1;
        if (tries === 1) throw new Error('the answer was lost');
      },
    },
    () => now,
    deadlines,
  );
  expect(await heart.join()).toBe('unknown');
  now = 12_000;
  expect(await heart.join()).toBe('alive');
  // Two thirds of 30 s.
  expect(deadlines).toEqual([20_000]);
});
