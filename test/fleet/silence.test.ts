/** When other nodes take a node for dead (P2), and that they never do while it may still work (P7). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/domain/fleets/fleet.ts';
import { isSilent, type Memory, NOTHING_SEEN, remember } from '../../src/domain/fleets/silence.ts';
import { Heartbeat } from '../../src/fleet/heartbeat.ts';
import type { Clock } from '../../src/fleet/member.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';
import { aFleet, aLease, aNode, FLEET, key, partition, shares } from './records.ts';

const CYCLE = 5_000;

/** Reads the node at these moments, in its state at that time. */
const observed = (moments: readonly number[], nodeAt: (moment: number) => Node = () => aNode('n')): Memory =>
  moments.reduce((memory, at) => remember(memory, aFleet([nodeAt(at)]), [], { from: at, to: at }, CYCLE), NOTHING_SEEN);

const every = (span: number, count: number): number[] => Array.from({ length: count }, (_, n) => n * span);

describe('a node without new heartbeats', () => {
  it('is silent after its own Ttl, and not a cycle earlier (P2)', () => {
    expect(isSilent(observed(every(CYCLE, 6)), aNode('n'))).toBe(false);
    expect(isSilent(observed(every(CYCLE, 7)), aNode('n'))).toBe(true);
    const patient = () => aNode('n', { ttl: 120_000 });
    expect(isSilent(observed(every(CYCLE, 24), patient), patient())).toBe(false);
    expect(isSilent(observed(every(CYCLE, 25), patient), patient())).toBe(true);
  });

  it('is not silent before four more reads, however old it is', () => {
    const hasty = () => aNode('n', { ttl: 1_000 });
    expect(isSilent(observed(every(CYCLE, 4), hasty), hasty())).toBe(false);
    expect(isSilent(observed(every(CYCLE, 5), hasty), hasty())).toBe(true);
  });

  it('is not silent while it sends heartbeats, however slowly', () => {
    const slow = (moment: number) => aNode('n', { beat: Math.floor(moment / 29_000) });
    for (let count = 1; count < 200; count += 1) {
      const moments = every(CYCLE, count);
      expect(isSilent(observed(moments, slow), slow(moments.at(-1) as number))).toBe(false);
    }
  });

  it('starts its silence again with each heartbeat', () => {
    const once = (moment: number) => aNode('n', { beat: moment < 30_000 ? 1 : 2 });
    expect(isSilent(observed(every(CYCLE, 12), once), once(55_000))).toBe(false);
    expect(isSilent(observed(every(CYCLE, 13), once), once(60_000))).toBe(true);
  });

  it('is not judged by another heartbeat, nor if it was evicted', () => {
    const memory = observed(every(CYCLE, 20));
    expect(isSilent(memory, aNode('n', { beat: 2 }))).toBe(false);
    expect(isSilent(memory, aNode('n', { evicted: true }))).toBe(false);
    expect(isSilent(memory, aNode('other'))).toBe(false);
  });

  it('is judged by its new Ttl, longer or shorter', () => {
    const memory = observed(every(CYCLE, 9));
    expect(isSilent(memory, aNode('n', { ttl: 40_000 }))).toBe(true);
    expect(isSilent(memory, aNode('n', { ttl: 40_001 }))).toBe(false);
  });

  it('is not silent for the time in which the observer was late', () => {
    const late = [0, 3_600_000, 7_200_000, 10_800_000, 14_400_000, 18_000_000];
    expect(isSilent(observed(late), aNode('n')), 'five gaps count as 5.5 s each').toBe(false);
    expect(isSilent(observed([...late, 21_600_000]), aNode('n'))).toBe(true);
  });

  it('is not silent for the time that a read takes', () => {
    const slow = every(CYCLE, 10).reduce(
      (memory, at) => remember(memory, aFleet(['n']), [], { from: at, to: at + 4_000 }, CYCLE),
      NOTHING_SEEN,
    );
    expect(slow.sightings.get(key('n'))?.silence).toBe(9_000);
  });

  it('is removed from the memory once its row is gone', () => {
    const memory = remember(observed(every(CYCLE, 20)), aFleet([]), [], { from: 100_000, to: 100_000 }, CYCLE);
    expect([memory.sightings.size, isSilent(memory, aNode('n'))]).toEqual([0, false]);
  });
});

describe('a free partition (P11)', () => {
  const look = (memory: Memory, fleet: ReturnType<typeof aFleet>): Memory =>
    remember(memory, fleet, shares(4), { from: 0, to: 0 }, CYCLE);

  it('is counted from its last owner on: free, owner gone, or no row', () => {
    const leases = [aLease(0), aLease(1, { owner: 'gone' }), aLease(2, { owner: 'n' })];
    const twice = look(look(NOTHING_SEEN, aFleet(['n'], leases)), aFleet(['n'], leases));
    expect([...twice.free]).toEqual([0, 1, 3].map((name) => [partition(name), 2]));
    const ended = look(twice, aFleet([aNode('n', { evicted: true })], leases));
    expect(ended.free.get(partition(2))).toBe(1);
    const taken = look(twice, aFleet(['n'], [aLease(0, { owner: 'n' })]));
    expect([taken.free.has(partition(0)), look(taken, aFleet(['n'])).free.get(partition(0))]).toEqual([false, 1]);
  });
});

/** What happens to a heartbeat. */
interface Sent {
  readonly after: number;
  /** How long until it is in the table, if it ever is, in milliseconds. */
  readonly lands: number;
  /** How long until it is answered, in milliseconds. */
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
  /** Undefined until its row exists. */
  readonly node: Node | undefined;
  readonly deadline: number;
}

/** A real heartbeat loop. Returns its row in the table at each moment, with the deadline of that moment. */
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
  const setting = {
    fleet: FLEET,
    shares: [],
    cycle: CYCLE,
    maxBlocked: 60_000,
    restartWithin: 0,
    notice: 0,
    leaveWithin: 0,
  };
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

describe('an observer', () => {
  it('never evicts a node that may still work, whenever and however slowly it reads', async () => {
    const reads = (after: number, takes: number, maxLength: number) =>
      fc.array(fc.record({ after: fc.integer({ min: 1, max: after }), takes: fc.nat({ max: takes }) }), {
        minLength: 20,
        maxLength,
        size: 'max',
      });
    // A usual observer, and one that misses nothing.
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
            // The node is evicted unless it has sent another heartbeat since, which its row shows.
            if (!isSilent(memory, seen.node) || latest?.node?.beat !== seen.node.beat) continue;
            ended += 1;
            expect(latest.deadline).toBeLessThanOrEqual(now);
            return;
          }
        },
      ),
      { numRuns: 1_000 },
    );
    expect(ended, 'the property is tested often enough').toBeGreaterThan(100);
  });
});
