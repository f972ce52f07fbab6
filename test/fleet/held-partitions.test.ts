import { expect, it } from 'vitest';
import type { LifeEvent } from '../../src/domain/fleets/events.ts';
import type { Lease } from '../../src/domain/fleets/fleet.ts';
import { type FleetName, type NodeId, nodeKey, type PartitionId } from '../../src/domain/fleets/ids.ts';
import { HeldPartitions } from '../../src/fleet/held-partitions.ts';
import { type Clock, Sleeper } from '../../src/fleet/member.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';

const FLEET = 'f' as FleetName;
const [ME, OTHER] = [nodeKey('me' as NodeId, '1'), nodeKey('other' as NodeId, '1')];
const PARTITION = 'p' as PartitionId;

/** A node that holds one partition, under its first fence. */
const holding = async () => {
  const clock: Clock = { now: () => 0, wall: () => 0, sleep: async () => {}, random: () => 0.5 };
  const fleets = memoryFleets();
  const reported: LifeEvent['event'][] = [];
  const work = { begin: () => {}, drain: () => {}, drop: () => {}, mayUntil: () => {}, silentFor: () => 0 };
  const setting = {
    fleet: FLEET,
    shares: [],
    cycle: 5_000,
    maxBlocked: 60_000,
    restartWithin: 0,
    notice: 10_000,
    leaveWithin: 30_000,
  };
  const deps = { fleets, clock, work, report: ({ event }: LifeEvent) => void reported.push(event) };
  const hands = new HeldPartitions(ME, deps, setting, new Sleeper(clock));
  await hands.perform([{ do: 'take', lease: { partition: PARTITION, fence: 0 } }]);
  const [lease] = (await fleets.read(FLEET)).leases as [Lease];
  expect(lease).toMatchObject({ owner: ME, fence: 1 });
  return { hands, fleets, reported, lease, held: { partition: PARTITION, fence: 1, owner: ME } };
};

it('a partition that was given away is not begun again because of an older read', async () => {
  const { hands, reported, lease, held } = await holding();
  await hands.perform([{ do: 'drain', lease, to: OTHER }]);
  await hands.drained(held);
  await hands.perform([{ do: 'begin', lease }]);
  expect(reported).toEqual(['acquired', 'draining', 'handed-over']);
  expect(hands.holdings.size).toBe(0);
});

it('a partition that was given away is begun again when it comes back', async () => {
  const { hands, reported, lease, held } = await holding();
  await hands.perform([{ do: 'drain', lease, to: undefined }]);
  await hands.drained(held);
  await hands.perform([{ do: 'take', lease: { partition: PARTITION, fence: 1 } }]);
  expect(reported).toEqual(['acquired', 'draining', 'handed-over', 'acquired']);
  expect(hands.holdings.get(PARTITION)?.fence).toBe(2);
});

it('a partition that is given away while its checkpoint is opened is not begun', async () => {
  const { hands, reported, lease, held, fleets } = await holding();
  await hands.drained(held);
  const [taken] = [await fleets.take(FLEET, { partition: PARTITION, fence: 1 }, ME, 0)];
  expect(taken).toMatchObject({ ...lease, fence: 2 });
  await hands.perform(
    [
      { do: 'begin', lease: taken as Lease },
      { do: 'drain', lease: taken as Lease, to: OTHER },
    ],
    true,
  );
  expect(reported).toEqual(['acquired', 'handed-over', 'handed-over']);
  expect(hands.holdings.size).toBe(0);
  expect((await fleets.read(FLEET)).leases).toMatchObject([{ owner: OTHER, fence: 3 }]);
});

it('a partition that a later owner has opened is not begun, and an event reports that', async () => {
  const { hands, reported, lease, held, fleets } = await holding();
  await hands.drained(held);
  await fleets.open(FLEET, { ...lease, fence: 9 });
  await hands.perform([{ do: 'take', lease: { partition: PARTITION, fence: 1 } }], true);
  expect(reported).toEqual(['acquired', 'handed-over', 'store-failed']);
  expect(hands.holdings.size).toBe(0);
});

it('a partition whose work ends before it is asked for is given away all the same', async () => {
  const { hands, reported, held, fleets } = await holding();
  await hands.drained(held);
  expect(reported).toEqual(['acquired', 'handed-over']);
  expect((await fleets.read(FLEET)).leases).toEqual([{ partition: PARTITION, fence: 1 }]);
});
