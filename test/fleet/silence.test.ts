/** Who is dead, as others see it (P2), and that nobody is who may still work (P7). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/domain/fleets/fleet.ts';
import { isSilent, type Memory, NOTHING_SEEN, remember } from '../../src/domain/fleets/silence.ts';
import { Heartbeat } from '../../src/fleet/heartbeat.ts';
import type { Clock } from '../../src/fleet/member.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';
import { aFleet, aLease, aNode, FLEET, key, partition, shares } from './records.ts';

const CYCLE = 5_000;

/** Reads the node at these moments, as it is by then. */
const observed = (moments: readonly number[], nodeAt: (moment: number) => Node = () => aNode('n')): Memory =>
  moments.reduce((memory, at) => remember(memory, aFleet([nodeAt(at)]), [], { from: at, to: at }, CYCLE), NOTHING_SEEN);

const every = (span: number, count: number): number[] => Array.from({ length: count }, (_, n) => n * span);

describe('a node whose heartbeat stands still (P2)', () => {
  it('is silent once that was for its own Ttl, and not a cycle earlier', () => {
    expect(isSilent(observed(every(CYCLE, 6)), aNode('n'))).toBe(false);
    expect(isSilent(observed(every(CYCLE, 7)), aNode('n'))).toBe(true);
    const patient = () => aNode('n', { ttl: 120_000 });
    expect(isSilent(observed(every(CYCLE, 24), patient), patient())).toBe(false);
    expect(isSilent(observed(every(CYCLE, 25), patient), patient())).toBe(true);
  });

  it('is not, however long ago it was seen first, by fewer than four more reads', () => {
    const hasty = () => aNode('n', { ttl: 1_000 });
    expect(isSilent(observed(every(CYCLE, 4), hasty), hasty())).toBe(false);
    expect(isSilent(observed(every(CYCLE, 5), hasty), hasty())).toBe(true);
  });

  it('is not while it beats, however slowly', () => {
    const slow = (moment: number) => aNode('n', { beat: Math.floor(moment / 29_000) });
    for (let count = 1; count < 200; count += 1) {
      const moments = every(CYCLE, count);
      expect(isSilent(observed(moments, slow), slow(moments.at(-1) as number))).toBe(false);
    }
  });

  it('begins anew with each heartbeat', () => {
    const once = (moment: number) => aNode('n', { beat: moment < 30_000 ? 1 : 2 });
    expect(isSilent(observed(every(CYCLE, 12), once), once(55_000))).toBe(false);
    expect(isSilent(observed(every(CYCLE, 13), once), once(60_000))).toBe(true);
  });

  it('is judged by what was read last: not by another heartbeat, not when it was ended already', () => {
    const memory = observed(every(CYCLE, 20));
    expect(isSilent(memory, aNode('n', { beat: 2 }))).toBe(false);
    expect(isSilent(memory, aNode('n', { evicted: true }))).toBe(false);
    expect(isSilent(memory, aNode('other'))).toBe(false);
  });

  it('is judged by its new Ttl, be that longer or shorter', () => {
    const memory = observed(every(CYCLE, 9));
    expect(isSilent(memory, aNode('n', { ttl: 40_000 }))).toBe(true);
    expect(isSilent(memory, aNode('n', { ttl: 40_001 }))).toBe(false);
  });

  it('is forgiven what an observer did not see: that was late itself, for hours', () => {
    const late = [0, 3_600_000, 7_200_000, 10_800_000, 14_400_000, 18_000_000];
    expect(isSilent(observed(late), aNode('n')), 'five gaps count as 5.5 s each').toBe(false);
    expect(isSilent(observed([...late, 21_600_000]), aNode('n'))).toBe(true);
  });

  it('is forgiven the time that reading takes', () => {
    const slow = every(CYCLE, 10).reduce(
      (memory, at) => remember(memory, aFleet(['n']), [], { from: at, to: at + 4_000 }, CYCLE),
      NOTHING_SEEN,
    );
    expect(slow.sightings.get(key('n'))?.silence).toBe(9_000);
  });

  it('is forgotten once its row is gone', () => {
    const memory = remember(observed(every(CYCLE, 20)), aFleet([]), [], { from: 100_000, to: 100_000 }, CYCLE);
    expect([memory.sightings.size, isSilent(memory, aNode('n'))]).toEqual([0, false]);
  });
});

describe('a partition that nobody has (P11)', () => {
  const look = (memory: Memory, fleet: ReturnType<typeof aFleet>): Memory =>
    remember(memory, fleet, shares(4), { from: 0, to: 0 }, CYCLE);

  it('is counted from its last owner on: free, its owner gone or ended, or without a row', () => {
    const leases = [aLease(0), aLease(1, { owner: 'gone' }), aLease(2, { owner: 'n' })];
    const twice = look(look(NOTHING_SEEN, aFleet(['n'], leases)), aFleet(['n'], leases));
    expect([...twice.free]).toEqual([0, 1, 3].map((name) => [partition(name), 2]));
    const ended = look(twice, aFleet([aNode('n', { evicted: true })], leases));
    expect(ended.free.get(partition(2))).toBe(1);
    const taken = look(twice, aFleet(['n'], [aLease(0, { owner: 'n' })]));
    expect([taken.free.has(partition(0)), look(taken, aFleet(['n'])).free.get(partition(0))]).toEqual([false, 1]);
  });
});

/** What becomes of a heartbeat. */
interface Sent {
  readonly after: number;
  /** How long until it is in the table, if it ever is. */
  readonly lands: number;
  /** How long until it is answered. */
  readonly takes: number;
  readonly is: 'answered' | 'unanswered' | 'lost';
}

const anySent: fc.Arbitrary<Sent> = fc
  .record({
    after: fc.oneof(fc.integer({ min: 1, max: 6_000 }), fc.integer({ min: 1, max: 60_000 })),
    lands: fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 20_000 })),
    more: fc.nat({ max: 5_000 }),
    is: fc.constantFrom('answered', 'answered', 'answered', 'unanswered', 'lost'),
  })
  .map(({ lands, more, ...sent }) => ({ ...sent, lands, takes: lands + more }) as Sent);

interface Moment {
  readonly at: number;
  /** Once it is there. */
  readonly node: Node | undefined;
  readonly deadline: number;
}

/** A real heart, and what of it was in the table when, with the deadline of that moment. */
const beaten = async (all: readonly Sent[]): Promise<readonly Moment[]> => {
  let [now, deadline] = [0, 0];
  let node: Node | undefined;
  const moments: Moment[] = [];
  const note = (): void => {
    moments.push({ at: now, node, deadline });
  };
  const table = memoryFleets();
  let sent: Sent = { after: 0, lands: 0, takes: 0, is: 'answered' };
  const through = async <T>(write: () => Promise<T>): Promise<T> => {
    const from = now;
    now = from + sent.lands;
    const answer = sent.is === 'lost' ? undefined : await write();
    [node] = (await table.read(FLEET)).nodes;
    note();
    now = from + sent.takes;
    if (answer === undefined || sent.is !== 'answered') throw new Error('no answer');
    return answer;
  };
  const clock: Clock = { now: () => now, wall: () => now, sleep: async () => {}, random: () => 0.5 };
  const work = {
    begin: () => {},
    drain: () => {},
    drop: () => {},
    mayUntil: (moment: number) => {
      deadline = moment;
      note();
    },
    silentFor: () => 0,
  };
  const fleets = {
    ...table,
    join: async (...args: Parameters<typeof table.join>) => {
      await through(async () => {
        await table.join(...args);
        return true;
      });
    },
    beat: (...args: Parameters<typeof table.beat>) => through(() => table.beat(...args)),
  };
  const setting = { fleet: FLEET, shares: [], cycle: CYCLE, maxBlocked: 60_000, leaveWithin: 0 };
  const heart = new Heartbeat(key('n'), { fleets, clock, work, report: () => {} }, setting);
  let hasJoined = false;
  for (const each of all) {
    sent = each;
    now += sent.after;
    if (hasJoined) await heart.beat(false);
    else hasJoined = (await heart.join()) === 'alive';
  }
  return moments;
};

describe('an observer, whenever it reads and however its reads take', () => {
  it('never ends a node that may still work, by its own deadline', async () => {
    const reads = (after: number, takes: number, maxLength: number) =>
      fc.array(fc.record({ after: fc.integer({ min: 1, max: after }), takes: fc.nat({ max: takes }) }), {
        minLength: 20,
        maxLength,
        size: 'max',
      });
    // As it may be, and one that misses nothing.
    const anyReads = fc.oneof(reads(9_000, 4_000, 80), reads(900, 0, 300));
    let ended = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anySent, { minLength: 1, maxLength: 14, size: 'max' }),
        anyReads,
        async (all, looks) => {
          const moments = await beaten(all);
          const inTable = moments.filter(({ at }, index) => index === 0 || at >= (moments[index - 1]?.at ?? 0));
          const asOf = (at: number): Moment | undefined => inTable.filter((each) => each.at <= at).at(-1);
          let [memory, now] = [NOTHING_SEEN, 0];
          for (const { after, takes } of looks) {
            const from = now + after;
            now = from + takes;
            const seen = asOf(from);
            if (!seen?.node) continue;
            memory = remember(memory, aFleet([seen.node]), [], { from, to: now }, CYCLE);
            const latest = asOf(now);
            // It is ended unless it has beaten since, which its row shows.
            if (!isSilent(memory, seen.node) || latest?.node?.beat !== seen.node.beat) continue;
            ended += 1;
            expect(latest.deadline).toBeLessThanOrEqual(now);
            return;
          }
        },
      ),
      { numRuns: 1_000 },
    );
    expect(ended, 'often enough to mean something').toBeGreaterThan(100);
  });
});
