/** How long a node is trusted: P1, P7, P9. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  awayFor,
  type Beat,
  blockedAfter,
  deadlineOf,
  type Gap,
  hurriedPause,
  noticeFor,
  recentGaps,
  ttlOf,
} from '../../src/domain/fleets/timings.ts';

const CYCLE = 5_000;
const gaps = (...spans: number[]): Gap[] => spans.map((span) => ({ endedAt: 0, span }));

describe('a node’s Ttl (P1)', () => {
  it.each([
    { what: 'nothing known', spans: [], ttl: 30_000 },
    { what: 'usual gaps', spans: [4_600, 5_400], ttl: 32_400 },
    { what: 'short gaps', spans: [1, 1_000], ttl: 30_000 },
    { what: 'one gap of three cycles', spans: [5_000, 15_000, 5_000], ttl: 90_000 },
    { what: 'a gap of four cycles', spans: [20_000], ttl: 120_000 },
    { what: 'a gap of an hour', spans: [3_600_000], ttl: 120_000 },
  ])('is $ttl ms after $what', ({ spans, ttl }) => {
    expect(ttlOf(gaps(...spans), CYCLE)).toBe(ttl);
  });

  it('is 6 to 24 cycles after any gaps', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.integer({ min: 200, max: 60_000 }), (spans, cycle) => {
        const ttl = ttlOf(gaps(...spans), cycle);
        expect(Number.isInteger(ttl)).toBe(true);
        expect(ttl).toBeGreaterThanOrEqual(6 * cycle);
        expect(ttl).toBeLessThanOrEqual(24 * cycle);
      }),
    );
  });

  it('forgets a gap ten minutes after it ended, and not before', () => {
    const all: Gap[] = [
      { endedAt: 0, span: 1 },
      { endedAt: 1, span: 2 },
    ];
    expect(recentGaps(all, 600_000)).toEqual(all);
    expect(recentGaps(all, 600_001)).toEqual(all.slice(1));
    expect(recentGaps(all, 600_002)).toEqual([]);
  });
});

describe('a node’s deadline (P7)', () => {
  it('is two thirds of its Ttl after it sent its last heartbeat', () => {
    expect(deadlineOf({ sentAt: 1_000, ttl: 30_000 }, [])).toBe(21_000);
  });

  it('is found also after days without an answer', () => {
    const unknown = Array.from({ length: 500_000 }, (_, index) => ({ sentAt: 5_000 * (index + 1), ttl: 30_000 }));
    expect(deadlineOf({ sentAt: 0, ttl: 30_000 }, unknown)).toBe(20_000);
  });

  it('is the earliest deadline that other nodes may have seen', () => {
    const beat = fc.record({ sentAt: fc.nat(), ttl: fc.integer({ min: 1, max: 120_000 }) });
    fc.assert(
      fc.property(beat, fc.array(beat), (written: Beat, unknown: Beat[]) => {
        const deadline = deadlineOf(written, unknown);
        for (const { sentAt, ttl } of [written, ...unknown])
          expect(deadline).toBeLessThanOrEqual(sentAt + (ttl * 2) / 3);
      }),
    );
  });
});

it('an evicted node stays away 6 cycles, then twice as long each time, up to 180 (P9)', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 60].map((evictions) => awayFor(evictions, CYCLE) / CYCLE)).toEqual([
    6, 12, 24, 48, 96, 180, 180, 180,
  ]);
});

it('work reports four times a second, and is not blocked between two reports', () => {
  expect([200, 1_000, CYCLE].map(blockedAfter)).toEqual([1_000, 1_000, CYCLE]);
});

describe('a node that waits for a partition', () => {
  it('reads again after 0.25 s, or sooner in a short cycle', () => {
    expect(hurriedPause(4, 68, CYCLE)).toBe(250);
    expect(hurriedPause(4, 68, 200)).toBe(40);
  });

  it('shares 1,000 read units a second, but reads once a cycle', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 5_000 }), (nodes, rows) => {
        const pause = hurriedPause(nodes, rows, CYCLE);
        const units = (nodes * Math.ceil(rows / 23) * 1_000) / pause;
        expect(pause).toBeLessThanOrEqual(CYCLE);
        if (pause < CYCLE) expect(units).toBeLessThanOrEqual(1_000.001);
      }),
    );
    expect(hurriedPause(10, 2_300, CYCLE)).toBe(1_000);
  });
});

it('a node waits two cycles for others to ask, and leaves half of the time for draining (P12)', () => {
  expect([noticeFor(CYCLE, 20_000), noticeFor(CYCLE, 60_000), noticeFor(CYCLE, 4_000), noticeFor(CYCLE, 0)]).toEqual([
    10_000, 10_000, 2_000, 0,
  ]);
});
