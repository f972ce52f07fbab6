import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClaimRules, planClaim } from '../../src/domain/lists/claiming.ts';
import { endedOf, isolated, releasedOf, unreported, unreportedOf } from '../../src/domain/lists/deliveries.ts';
import { neighboursIn, planMerge } from '../../src/domain/lists/free-ranges.ts';
import type { Range } from '../../src/domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  claimsIn,
  freeAfter,
  freed,
  isFree,
  type Lease,
  type List,
  leased,
  leaseEnd,
  PIECES_MAX,
} from '../../src/domain/lists/list.ts';
import { countOf, endOf, partOf, rangesOf, tokensOf, without } from '../../src/domain/lists/ranges.ts';
import { freeToTrigger, planTake, planTrigger } from '../../src/domain/lists/taking.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { NOW } from '../factories/factories.ts';
import { aList, delivered, keyOf, leaseOf, NEVER, opened } from './pure-kit.ts';

const RULES: ClaimRules = { maxDeliveries: 5, claimsMax: CLAIMS_MAX, spread: 0 };
const lateBy = (lease: Lease, until: number): Lease => ({ ...lease, until });

describe('the jobs a list hands out', () => {
  it('are free for others after the lease plus twice the clock skew', () => {
    const until = leaseEnd(NOW, 1_001);
    expect(until).toBe(NOW + 2_000);
    const lease = leaseOf(1, 0, 3, until);
    expect(isFree(lease, until + 2 * CLOCK_SKEW)).toBe(false);
    expect(isFree(lease, until + 2 * CLOCK_SKEW + 1)).toBe(true);
    expect(freeAfter(until)).toBe(until + 2 * CLOCK_SKEW);
    expect(isFree(freed(lease, NEVER), 0)).toBe(true);
  });

  it('come from as many ranges at once as one condition can check', () => {
    const leases = Array.from({ length: CLAIMS_MAX }, (_, n) => freed({ first: n, count: 1 }, NEVER));
    const list = aList({ total: 100, head: CLAIMS_MAX, leases });
    const plan = planClaim(list, keyOf(1), 99, NOW, RULES);
    if (plan.do !== 'take') throw new Error('there are free jobs');
    expect(plan.from).toHaveLength(PIECES_MAX - 1);
    const taking = planTake(list, plan, opened(plan.from, new Set()), keyOf(1), NOW);
    expect(taking.to.map(({ first, count }) => [first, count]).at(-1), 'and fresh jobs').toEqual([CLAIMS_MAX, 36]);
    const free = freeToTrigger(list, NOW);
    expect(free).toHaveLength(40);
    expect(planTrigger(list, 70, opened(free, new Set()))).toMatchObject({ fresh: 30 });
  });

  it('end with the list, except for existing claims', () => {
    const lease = leaseOf(1, 0, 3, NOW);
    for (const status of ['complete', 'cancelled', 'expired'] as const) {
      const list = aList({ status, total: 9, head: 3, leases: [lease] });
      expect(planClaim(list, keyOf(2), 1, NOW, RULES)).toEqual({ do: 'refuse' });
      expect(planClaim(list, keyOf(1), 1, NOW, RULES)).toEqual({ do: 'again', leases: [lease] });
    }
  });
});

const ranges = fc
  .array(fc.record({ gap: fc.nat(5), count: fc.integer({ min: 1, max: 9 }) }), { maxLength: 12 })
  .map((parts) => {
    let next = 0;
    return parts.map(({ gap, count }): Range => {
      const first = next + gap;
      next = first + count;
      return { first, count };
    });
  });

describe('ranges', () => {
  it('are split into parts of at most a given size that make up the whole', () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 20 }), (all, size) => {
        const parts: number[] = [];
        for (let from = 0; from < countOf(all); from += size) {
          const part = partOf(all, from, size);
          expect(countOf(part)).toBe(Math.min(size, countOf(all) - from));
          parts.push(...part.flatMap(tokensOf));
        }
        expect(parts).toEqual(all.flatMap(tokensOf));
        expect(partOf(all, countOf(all), size)).toEqual([]);
      }),
    );
  });

  it('without some jobs are the remaining ones, with no two ranges adjacent', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 40 }), fc.uniqueArray(fc.nat(100)), (first, count, done) => {
        const open = without({ first, count }, new Set(done));
        expect(open.flatMap(tokensOf)).toEqual(tokensOf({ first, count }).filter((each) => !done.includes(each)));
        for (const [n, range] of open.entries())
          expect(range.first).not.toBe(endOf(open[n - 1] ?? { first: -1, count: 0 }));
      }),
    );
  });
});

describe('the plan of a claim', () => {
  const key = keyOf(99);
  const rules: ClaimRules = { maxDeliveries: 5, claimsMax: CLAIMS_MAX, spread: 0 };
  const plan = (fields: Partial<List>, count: number) =>
    planClaim(aList({ total: 99, ...fields }), key, count, NOW, rules);
  const take = (fields: Partial<List>, count: number, done: readonly number[] = []) => {
    const list = aList({ total: 99, ...fields });
    const chosen = planClaim(list, key, count, NOW, rules);
    if (chosen.do !== 'take') throw new Error(`nothing is taken: ${chosen.do}`);
    const { to, rest, from } = planTake(list, chosen, opened(chosen.from, new Set(done)), key, NOW + 1_000);
    return {
      to: to.map((lease) => [lease.first, lease.count, lease.deliveries, ...(lease.isSuspect ? ['suspect'] : [])]),
      from: from.map(({ first }) => first),
      ...(rest ? { rest: [rest.key, rest.first, rest.count] } : {}),
    };
  };
  const held = (count: number): Lease[] => Array.from({ length: count }, (_, n) => leaseOf(n, n, 1));
  const free = (first: number, count: number, how = NEVER): Lease => freed({ first, count }, how);

  it('gets a row of its own beyond the maximum number of claims', () => {
    for (const [count, isApart] of [
      [CLAIMS_MAX - 1, false],
      [CLAIMS_MAX, true],
    ] as const)
      expect(plan({ head: count, leases: held(count) }, 1)).toMatchObject({ do: 'take', isApart });
    const expired = held(CLAIMS_MAX).map((lease, n) => (n === 0 ? lateBy(lease, 1) : lease));
    expect(plan({ head: CLAIMS_MAX, leases: expired }, 1), 'ended claims do not count').toMatchObject({
      isApart: false,
    });
  });

  it('counts the claims, not their leases, until the row has too many leases', () => {
    const many = (claims: number, each: number): Lease[] =>
      Array.from({ length: claims * each }, (_, n) =>
        leased(keyOf(Math.floor(n / each)), n % each, { first: n, count: 1, ...delivered(1) }, NOW + 60_000),
      );
    expect(claimsIn(aList({ leases: many(5, 20) }), NOW)).toBe(5);
    expect(plan({ total: 999, head: 100, leases: many(5, 20) }, 1)).toMatchObject({ isApart: false });
    expect(plan({ total: 999, head: 120, leases: many(6, 20) }, 1)).toMatchObject({ isApart: true });
  });

  it('after a lost race takes fresh jobs or a few free ranges', () => {
    const many = (count: number) => ({
      total: 999,
      head: 400,
      leases: Array.from({ length: count }, (_, n) => free(4 * n, 1, delivered(1))),
    });
    const planned = (fields: Partial<List>, spread: number) => {
      const chosen = planClaim(aList(fields), key, 50, NOW, { ...rules, spread });
      if (chosen.do !== 'take') throw new Error(`nothing is taken: ${chosen.do}`);
      return { fresh: chosen.fresh, from: chosen.from.map(({ first }) => first) };
    };
    const nineteen = Array.from({ length: 19 }, (_, n) => 4 * n);
    expect(planned(many(63), 0)).toEqual({ fresh: 50, from: nineteen });
    expect(planned(many(63), 0.5)).toEqual({ fresh: 50, from: [] });
    expect(planned(many(64), 0.5)).toEqual({ fresh: 0, from: [128, 132, 136, 140, 144] });
    expect(planned(many(64), 0.98)).toEqual({ fresh: 0, from: [248, 252, 0, 4, 8] });
    const drained = { ...many(20), head: 999 };
    expect(planned(drained, 0.5).from, 'without fresh jobs').toEqual([
      ...nineteen.slice(10),
      76,
      ...nineteen.slice(0, 9),
    ]);
  });

  it('takes suspect ranges before others only if they are many', () => {
    const suspects = Array.from({ length: 17 }, (_, n) => free(2 * n, 1, { ...delivered(1), isSuspect: true }));
    const known = (count: number) => Array.from({ length: count }, (_, n) => free(100 + 2 * n, 1));
    const first = (leases: readonly Lease[]) => take({ total: 999, head: 999, leases }, 5).from[0];
    expect(first([...suspects, ...known(16)])).toBe(0);
    expect(first([...suspects, ...known(17)])).toBe(100);
    expect(first([...suspects.slice(1), ...known(1)])).toBe(100);
  });

  it('takes no more ranges than it needs, and leaves a rest free', () => {
    const fields = { total: 6, head: 6, leases: [0, 2, 4].map((first) => free(first, 2)) };
    expect(take(fields, 2)).toEqual({ to: [[0, 2, 1]], from: [0] });
    expect(take(fields, 3)).toEqual({
      to: [
        [0, 2, 1],
        [2, 1, 1],
      ],
      from: [0, 2],
      rest: ['@3', 3, 1],
    });
  });

  it('takes fresh jobs first, and then free ones with the fewest deliveries', () => {
    const leases = [free(0, 1, delivered(2)), free(1, 1, delivered(1)), free(2, 1)];
    expect(take({ total: 4, head: 3, leases }, 1)).toEqual({ to: [[3, 1, 1]], from: [] });
    expect(take({ total: 4, head: 3, leases }, 3)).toEqual({
      to: [
        [2, 1, 1],
        [1, 1, 2],
        [3, 1, 1],
      ],
      from: [2, 1],
    });
  });

  it('takes from the first to the last open job of each range', () => {
    const leases = [free(0, 3), free(3, 6)];
    expect(take({ total: 9, head: 9, leases }, 2, [0, 1, 2, 3, 5])).toEqual({
      to: [[4, 3, 1]],
      from: [0, 3],
      rest: ['@7', 7, 2],
    });
  });

  it('takes suspect jobs apart, in ever smaller numbers', () => {
    const of = (deliveries: number) => ({ total: 100, head: 100, leases: [free(0, 100, delivered(deliveries, true))] });
    for (const [deliveries, count] of [
      [1, 32],
      [2, 10],
      [3, 4],
      [4, 1],
    ] as const) {
      expect(isolated(100, deliveries, 5)).toBe(count);
      expect(take(of(deliveries), 100)).toMatchObject({ to: [[0, count, deliveries + 1, 'suspect']] });
    }
    const mixed = [free(0, 2, delivered(1, true)), free(2, 2, delivered(2)), free(4, 2, delivered(2, true))];
    expect(take({ total: 6, head: 6, leases: mixed }, 9).to, 'others first').toEqual([[2, 2, 3]]);
    expect(take({ total: 6, head: 6, leases: mixed.filter(({ isSuspect }) => isSuspect) }, 9).to).toEqual([
      [0, 2, 2, 'suspect'],
    ]);
  });

  it('makes the jobs of an expired lease suspect', () => {
    const over = lateBy(leaseOf(1, 0, 4), 1);
    expect(endedOf(over)).toEqual(delivered(1, true));
    expect(take({ total: 4, head: 4, leases: [over] }, 4).to).toEqual([[0, 3, 2, 'suspect']]);
  });

  it('fails jobs that were delivered as often as allowed', () => {
    const spent = [free(0, 1, delivered(5)), lateBy(leaseOf(1, 1, 1, 1, delivered(6, true)), 1)];
    const leases = [...spent, leaseOf(2, 2, 1, NOW + 60_000, delivered(5)), free(3, 1, delivered(4))];
    expect(plan({ head: 4, leases }, 1)).toEqual({ do: 'fail', leases: spent });
  });

  it('repeats a last delivery of jobs in company, each alone', () => {
    const last = leaseOf(1, 0, 4, 1, delivered(5));
    expect(unreportedOf(last, 4, 5)).toEqual(delivered(4, true));
    expect(isolated(100, 4, 5)).toBe(1);
    expect(unreportedOf(last, 1, 5)).toEqual(delivered(5, true));
    expect(unreportedOf(leaseOf(1, 0, 4, 1, delivered(2)), 4, 5)).toEqual(delivered(2, true));
    const only = leaseOf(1, 0, 4, 1);
    expect(unreportedOf(only, 4, 1), 'a single delivery is never repeated').toEqual(delivered(1, true));
  });

  it('keeps a job alone in its last delivery, whatever the numbers are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 100 }), (count, most) => {
        const all = Array.from({ length: most }, (_, n) => isolated(count, n, most));
        expect(all.at(-1)).toBe(1);
        for (const [n, each] of all.entries()) {
          expect(each).toBeGreaterThanOrEqual(1);
          expect(each).toBeLessThanOrEqual(all[n - 1] ?? count);
        }
      }),
    );
  });
});

describe('a released lease', () => {
  const lease = leaseOf(1, 10, 8, NOW, delivered(3));
  const open = tokensOf(lease);
  const released = (of: Lease, left: readonly number[], begun: ReadonlySet<number> | undefined) => {
    const openIn = { lease: of, open: rangesOf(left) };
    return begun ? releasedOf(openIn, begun, 1) : unreported([openIn], 5);
  };
  const keys = (all: readonly Lease[]) => all.map(({ key, count }) => `${key} ${count}`);

  it('counts as a delivery of all its jobs if no begun jobs are named', () => {
    expect(keys(released(lease, open, undefined))).toEqual(['@10!3 8']);
    expect(keys(released(lease, [11, 15], undefined)), 'from the first to the last open job').toEqual(['@11!3 5']);
    expect(released(lease, [], undefined)).toEqual([]);
  });

  it('counts as a delivery only of the jobs that were begun', () => {
    expect(keys(released(lease, open, new Set()))).toEqual(['@10*2 8']);
    expect(keys(released(lease, open, new Set([12, 13])))).toEqual(['@10*2 2', '@12*3 2', '@14*2 4']);
    expect(keys(released(lease, [10, 12, 13], new Set([12])))).toEqual(['@10*2 1', '@12*3 1', '@13*2 1']);
  });

  it('is never divided into many ranges', () => {
    expect(keys(released(lease, open, new Set([10, 12, 14])))).toHaveLength(6);
    const inMany = releasedOf({ lease, open: [lease] }, new Set([10, 12, 14]), 20);
    expect(keys(inMany), 'no delivery counts for jobs that were not begun').toEqual(['@10*2 8']);
  });

  it('clears jobs that were begun, and those in their first delivery', () => {
    const suspect = leaseOf(1, 0, 3, NOW, delivered(2, true));
    expect(keys(released(suspect, [0, 1, 2], new Set([1])))).toEqual(['@0!1 1', '@1*2 1', '@2!1 1']);
    const first = leaseOf(1, 0, 3, NOW, delivered(1, true));
    expect(keys(released(first, [0, 1, 2], new Set()))).toEqual(['@0 3']);
  });
});

describe('free ranges that are neighbours', () => {
  const free = (first: number, count: number, deliveries = 0) => freed({ first, count }, delivered(deliveries));
  const none = () => false;

  it('become one range if equal, with no lease between them', () => {
    const leases = [free(0, 2), free(2, 3), free(5, 1, 1), free(6, 1, 1), leaseOf(1, 7, 1), free(8, 1), free(9, 1)];
    const found = neighboursIn({ leases });
    expect(found.map((each) => each.leases.length)).toEqual([2, 2, 2]);
    const plan = planMerge(found, none, 16);
    expect(plan?.from).toHaveLength(6);
    expect(plan?.to).toEqual([free(0, 5), free(5, 2, 1), free(8, 2)]);
  });

  it('are merged over jobs that are done, and over no others', () => {
    const leases = [free(0, 1), free(2, 1), free(6, 1), free(7, 1)];
    const found = neighboursIn({ leases });
    expect(found.flatMap(({ gaps }) => gaps)).toEqual([
      { first: 1, count: 1 },
      { first: 3, count: 3 },
    ]);
    const done = new Set([1, 3, 4, 5]);
    expect(planMerge(found, (token) => done.has(token), 16)?.to).toEqual([free(0, 8)]);
    done.delete(4);
    expect(planMerge(found, (token) => done.has(token), 16)).toBeUndefined();
  });

  it('stay apart if only one of them is suspect', () => {
    const leases = [free(0, 1, 1), freed({ first: 1, count: 1 }, delivered(1, true)), free(2, 1, 1)];
    expect(neighboursIn({ leases })).toEqual([]);
  });

  it('are merged forty at a time, as many as one write can check', () => {
    const found = neighboursIn({ leases: Array.from({ length: 60 }, (_, n) => free(n, 1)) });
    expect(found.map(({ leases }) => leases.length)).toEqual([40]);
    expect(planMerge(found, none, CLAIMS_MAX)?.to).toEqual([free(0, 40)]);
  });

  it('stay if a merge saves too little or is too long', () => {
    expect(planMerge(neighboursIn({ leases: [free(0, 1), free(1, 1)] }), none, CLAIMS_MAX)).toBeUndefined();
    expect(neighboursIn({ leases: [free(0, 6_000), free(6_000, 6_000)] })).toEqual([]);
  });
});
