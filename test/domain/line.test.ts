import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BINS,
  gapOf,
  type Line,
  latenessOf,
  lineUnder,
  nextStart,
  type Pace,
  plannedIn,
  withStart,
  withUse,
} from '../../src/domain/limits/line.ts';
import { NOW } from '../factories/factories.ts';

const pace = (some: Partial<Pace>): Pace => ({ calls: null, weight: null, per: 60_000, burst: 1, ...some });
const newLine = (some: Partial<Pace>): Line => lineUnder(undefined, pace(some), NOW);

/** The moments of calls of these weights, all asked for at once. */
const momentsOf = (line: Line, weights: readonly number[], asked: Pace['per'] = NOW): number[] => {
  let now = line;
  return weights.map((weight) => {
    const at = nextStart(now, weight, asked);
    now = withStart(now, weight, at);
    return at - NOW;
  });
};

/** A generated limit, and calls: each asked for some time after the one before, with a weight up to the limit. */
const aPace = fc
  .record({
    calls: fc.option(fc.integer({ min: 1, max: 200 }), { nil: null }),
    weight: fc.option(fc.integer({ min: 10, max: 100_000 }), { nil: null }),
    per: fc.constantFrom(1_000, 10_000, 60_000, 3_600_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .filter(({ calls, weight }) => calls !== null || weight !== null)
  .map(({ share, ...rest }) => ({
    ...rest,
    burst: rest.calls === null ? 1 : Math.max(1, Math.ceil(share * rest.calls)),
  }));
const someCalls = fc.array(
  fc.record({ after: fc.constantFrom(0, 0, 0, 1, 0.1, 0.01, 3), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  { minLength: 2, maxLength: 150 },
);

describe('the line of a limit', () => {
  it('paces calls evenly, with a percent to spare for calls that are late', () => {
    expect(momentsOf(newLine({ calls: 10, per: 1_000 }), [1, 1, 1])).toEqual([0, 101, 202]);
    expect(momentsOf(newLine({ calls: 1, per: 3_600_000 }), [1, 1])).toEqual([0, 3_610_000]);
  });

  it('tells about how many calls have a moment ahead, and the last of them', () => {
    const taken = (line: Line, count: number): Line => {
      let now = line;
      for (let n = 0; n < count; n += 1) now = withStart(now, 1, nextStart(now, 1, NOW));
      return now;
    };
    const paced = { calls: 10, per: 1_000 };
    const four = taken(newLine(paced), 4);
    expect(plannedIn(four, pace(paced), NOW)).toEqual({ calls: 3, until: NOW + 303 });
    expect(plannedIn(four, pace(paced), NOW + 250)).toEqual({ calls: 1, until: NOW + 303 });
    expect(plannedIn(four, pace(paced), NOW + 303)).toBeUndefined();
    const weighed = { weight: 2, per: 60_000 };
    expect(plannedIn(taken(newLine(weighed), 3), pace(weighed), NOW)).toEqual({ calls: 2, until: NOW + 60_600 });
    expect(plannedIn(taken(newLine(weighed), 1), pace(weighed), NOW)).toBeUndefined();
    expect(plannedIn(taken(newLine({}), 3), pace({}), NOW)).toBeUndefined();
    expect(plannedIn(undefined, pace(paced), NOW)).toBeUndefined();
  });

  it('paces calls by their weight', () => {
    expect(momentsOf(newLine({ weight: 60, per: 60_000 }), [20, 10, 30])).toEqual([0, 20_200, 30_300]);
  });

  it('keeps heavy calls apart although their pace would allow both', () => {
    // The pace lets the second call start after 34 s. Within 60 s, both are more than 90.
    expect(momentsOf(newLine({ weight: 90, per: 60_000 }), [50, 50, 30]).map(Math.round)).toEqual([0, 60_600, 94_267]);
  });

  it('lets a burst start at once, and no more within any span', () => {
    expect(momentsOf(newLine({ calls: 4, burst: 3, per: 1_000 }), [1, 1, 1, 1, 1])).toEqual([0, 0, 0, 252.5, 1_010]);
  });

  it.each([
    ['exact', 0],
    ['late', 1],
  ])('never exceeds a limit in any span, with calls that are %s', (_, most) => {
    fc.assert(
      fc.property(
        aPace,
        someCalls,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        (limit, calls, late) => {
          let line = lineUnder(undefined, limit, NOW);
          let clock = NOW;
          const starts: { at: number; weight: number }[] = [];
          for (const { after, share } of calls) {
            clock += after * limit.per;
            const weight = Math.max(1e-3, share * (limit.weight ?? 1));
            const moment = nextStart(line, weight, clock);
            line = withStart(line, weight, moment);
            const lateness = most * (late.next().value as number) * Math.min(1_000, limit.per / 100);
            starts.push({ at: moment + lateness, weight });
          }
          for (const first of starts) {
            const within = starts.filter(({ at }) => at >= first.at && at < first.at + limit.per);
            expect(within.length).toBeLessThanOrEqual(limit.calls ?? Number.POSITIVE_INFINITY);
            const sum = within.reduce((total, { weight }) => total + weight, 0);
            expect(sum).toBeLessThanOrEqual((limit.weight ?? Number.POSITIVE_INFINITY) * (1 + 1e-9));
          }
          expect(line.starts.length).toBeLessThanOrEqual(BINS + 2);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('uses nearly the whole limit while calls wait', () => {
    fc.assert(
      fc.property(aPace, (limit) => {
        const light = (limit.weight ?? 1) / (limit.calls ?? 500) / 2;
        const spans = 3;
        let line = lineUnder(undefined, limit, NOW);
        let count = 0;
        for (let at = NOW; at < NOW + spans * limit.per; count += 1) {
          at = nextStart(line, light, NOW);
          line = withStart(line, light, at);
        }
        const possible = Math.min(
          limit.calls ?? Number.POSITIVE_INFINITY,
          (limit.weight ?? Number.POSITIVE_INFINITY) / light,
        );
        expect(count).toBeGreaterThanOrEqual(0.92 * spans * possible - 1);
      }),
      { numRuns: 25 },
    );
  });

  it('begins anew under another pace, after at most one call of that pace', () => {
    const slow = withStart(newLine({ calls: 1 }), 1, NOW);
    const now = NOW + 5_000;
    const fast = lineUnder(slow, pace({ calls: 60 }), now);
    expect(nextStart(fast, 1, now) - now).toBe(1_010);
    expect(fast.since).toBe(now);
    const slower = lineUnder(withStart(newLine({ calls: 60 }), 1, NOW), pace({ calls: 1 }), now);
    expect(nextStart(slower, 1, now)).toBe(now);
    expect(nextStart(withStart(slower, 1, now), 1, now) - now).toBe(60_600);
  });

  it('stays for two seconds, while functions of two releases may use it', () => {
    const line = newLine({ calls: 1 });
    expect(lineUnder(line, pace({ calls: 60 }), NOW + 1_999)).toBe(line);
    expect(lineUnder(line, pace({ calls: 60 }), NOW + 2_000)).not.toBe(line);
  });

  it('counts past starts, and no moments ahead, under another pace', () => {
    const line = [0, 0, 40_000].reduce((before, at) => withStart(before, 30, NOW + at), newLine({ weight: 100 }));
    const changed = lineUnder(line, pace({ weight: 70, calls: 100, burst: 100 }), NOW + 30_000);
    expect(changed.starts).toEqual([{ at: NOW, calls: 2, weight: 60 }]);
    expect(nextStart(changed, 20, NOW + 30_000)).toBe(NOW + 60_600);
    expect(nextStart(changed, 10, NOW + 30_000)).toBe(NOW + 30_000);
  });

  it('delays later calls by a surplus, and gives back what was not used', () => {
    const line = withStart(newLine({ weight: 60 }), 10, NOW);
    const now = NOW + 1_000;
    expect(nextStart(line, 10, now) - NOW).toBe(10_100);
    expect(nextStart(withUse(line, 20, NOW, now), 10, now) - NOW).toBe(30_300);
    expect(nextStart(withUse(line, -5, NOW, now), 10, now) - NOW).toBe(5_050);
    expect(nextStart(withUse(line, -10, NOW, now), 60, now)).toBe(now);
    expect(withUse(newLine({ calls: 5 }), 20, NOW, now)).toEqual(newLine({ calls: 5 }));
  });

  it('gives a call that is heavier than a lowered limit the line alone', () => {
    const line = newLine({ weight: 10 });
    expect(momentsOf(line, [50, 5])).toEqual([0, 60_600]);
  });

  it.each([
    [4, 1_000, 5],
    [8, 1_000, 10],
    [80, 1_000, 100],
    [1, 1_400, 1],
  ])('of %i calls in %i ms, at most %i start within a second', (calls, per, most) => {
    const limit = pace({ calls, per });
    // The first call starts as late as it may, and the last one in time.
    expect(Math.ceil((1_000 + latenessOf(limit)) / gapOf(limit))).toBe(most);
  });

  it('lets calls be late by a quarter of a span, 1 s, or 1% of a long one', () => {
    expect([1_000, 2_000, 60_000, 300_000, 86_400_000].map((per) => latenessOf({ per }))).toEqual([
      250, 500, 1_000, 3_000, 10_000,
    ]);
    expect(gapOf(pace({ weight: 5 }))).toBe(0);
  });
});
