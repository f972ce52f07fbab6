import { expect, it } from 'vitest';
import type { FleetName, NodeId, NodeKey } from '../../src/domain/fleets/ids.ts';
import { Belonging } from '../../src/fleet/belonging.ts';
import type { Clock } from '../../src/fleet/member.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';

const FLEET = 'f' as FleetName;

it('a node that is evicted while it leaves does not wait to come back', async () => {
  // The clock does not advance, so a node that sleeps for as long as an evicted node stays away would never wake.
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    wall: () => 0,
    sleep: (span) =>
      slept.push(span) && span < 30_000 ? new Promise((wake) => setImmediate(wake)) : new Promise(() => {}),
    random: () => 0.5,
  };
  const fleets = memoryFleets();
  let me: NodeKey | undefined;
  const joined = Promise.withResolvers<void>();
  const belonging = new Belonging(
    {
      // Other nodes take the node for dead as soon as it starts to leave.
      fleets: { ...fleets, beat: async (_, { leaving }) => !leaving, read: () => new Promise(() => {}) },
      clock,
      work: { begin: () => {}, drain: () => {}, drop: () => {}, mayUntil: () => {}, silentFor: () => 0 },
      report: ({ event }) => event === 'joined' && joined.resolve(),
      id: 'me' as NodeId,
      epoch: () => '1',
      onLife: (key) => {
        me = key;
      },
    },
    {
      fleet: FLEET,
      shares: [],
      cycle: 5_000,
      maxBlocked: 60_000,
      restartWithin: 0,
      notice: 10_000,
      leaveWithin: 30_000,
    },
  );
  const run = belonging.run();
  await joined.promise;
  belonging.leave();
  await run;
  expect(me).toBe('me@1');
  expect(slept.filter((span) => span >= 30_000)).toEqual([]);
});
