import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fullPurse, type Limits, nextRound, pay } from '../../tools/console/server/interval.ts';

const HOUR = 3_600_000;
const LIMITS: Limits = { least: 2_000, readUnitsPerHourMax: 36_000 };

interface Day {
  /** When rounds began, and what each cost. */
  readonly rounds: { readonly at: number; readonly cost: number }[];
}

/**
 * Simulates rounds for some hours. @param costOf the cost of a round, by its number. @param isUrgent whether a round is
 * urgent, by its number.
 */
const run = (hours: number, costOf: (n: number) => number, isUrgent: (n: number) => boolean): Day => {
  const rounds: Day['rounds'] = [];
  let purse = fullPurse(LIMITS, 0);
  let begun: number | undefined;
  let cost = 0;
  for (let now = 0, n = 0; ; n += 1) {
    now = nextRound({ begun, cost, purse, isUrgent: isUrgent(n) }, LIMITS, now);
    if (now >= hours * HOUR) return { rounds };
    begun = now;
    cost = costOf(n);
    // A round takes time, too.
    now += 20;
    purse = pay(purse, cost, LIMITS, now);
    rounds.push({ at: begun, cost });
  }
};

const mostInAnHour = ({ rounds }: Day): number =>
  Math.max(
    ...rounds.map(({ at: from }) =>
      rounds.filter(({ at }) => at >= from && at < from + HOUR).reduce((sum, { cost }) => sum + cost, 0),
    ),
  );

describe('rounds', () => {
  it('start at the shortest interval if they are cheap', () => {
    const { rounds } = run(
      1,
      () => 5,
      () => false,
    );
    expect(rounds).toHaveLength(HOUR / LIMITS.least);
  });

  it('start at once if a page waits and the purse covers them', () => {
    const purse = fullPurse(LIMITS, 0);
    const known = { begun: 0, cost: 50, purse };
    expect(nextRound({ ...known, isUrgent: true }, LIMITS, 100)).toBe(100);
    expect(nextRound({ ...known, isUrgent: false }, LIMITS, 100)).toBeGreaterThanOrEqual(LIMITS.least);
  });

  it('start less often the more they cost', () => {
    const [cheap, dear, dearer] = [10, 100, 1_000].map(
      (cost) =>
        run(
          1,
          () => cost,
          () => false,
        ).rounds.length,
    );
    expect(cheap).toBeGreaterThan(dear ?? 0);
    expect(dear).toBeGreaterThan(dearer ?? 0);
    expect(dearer).toBeGreaterThan(10);
  });

  it('cost at most the limit and one round in any hour, also if many are urgent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 20, max: 6_000 }), { minLength: 1, maxLength: 20 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        (costs, urgent) => {
          const day = run(
            2,
            (n) => costs[n % costs.length] ?? 0,
            (n) => urgent[n % urgent.length] === true,
          );
          expect(mostInAnHour(day)).toBeLessThanOrEqual(LIMITS.readUnitsPerHourMax + Math.max(...costs));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('wait until the debt of a very expensive round is paid', () => {
    const { rounds } = run(
      2,
      (n) => (n === 0 ? LIMITS.readUnitsPerHourMax : 1),
      () => true,
    );
    expect((rounds[1]?.at ?? 0) - (rounds[0]?.at ?? 0)).toBeGreaterThan(HOUR / 2);
  });
});
