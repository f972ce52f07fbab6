import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemIdOf, parseStoredItem } from '../../src/domain/fan-out-ids.ts';
import {
  claimId,
  freeKeyOf,
  handleOf,
  itemOf,
  type LeaseKey,
  type ListId,
  leaseKeyOf,
  listId,
  listOf,
  parseHandle,
  type Range,
  taskOf,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import {
  CLAIMS_MAX,
  countOf,
  endOf,
  freed,
  freeToTrigger,
  isFree,
  type Lease,
  type List,
  leaseEnd,
  partOf,
  planClaim,
  planTrigger,
  tokensOf,
  without,
} from '../../src/domain/lists/list.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { NOW } from '../factories/factories.ts';
import { LIST } from './kit.ts';

const aList = (fields: Partial<List> = {}): List => ({
  id: trackerOf(LIST),
  createdAt: NOW,
  touchedAt: NOW,
  status: 'open',
  groups: 1,
  total: 0,
  version: 0,
  fails: [],
  head: 0,
  leases: [],
  ...fields,
});

/** A list under random events, with all jobs that were ever triggered or done. */
interface World {
  readonly list: List;
  readonly gone: ReadonlySet<number>;
  readonly now: number;
}

type Event =
  | { readonly do: 'add' | 'trigger' | 'wait'; readonly count: number }
  | { readonly do: 'claim'; readonly by: number; readonly count: number }
  | { readonly do: 'complete' | 'release'; readonly by: number };

const events: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ do: fc.constant('trigger' as const), count: fc.integer({ min: 0, max: 25 }) }),
  fc.record({ do: fc.constant('wait' as const), count: fc.integer({ min: 1, max: 120 }) }),
  fc.record({
    do: fc.constant('claim' as const),
    by: fc.integer({ min: 0, max: 80 }),
    count: fc.integer({ min: 1, max: 12 }),
  }),
  fc.record({ do: fc.constantFrom('complete' as const, 'release' as const), by: fc.integer({ min: 0, max: 80 }) }),
);

const inPlaceOf = ({ leases }: List, from: readonly Lease[], to: readonly Lease[]): readonly Lease[] =>
  [...leases.filter((lease) => !from.includes(lease)), ...to].sort((a, b) => a.first - b.first);

const keyOf = (by: number): LeaseKey => leaseKeyOf(claimId(`c-${by}`) as never);

const claim = (world: World, by: number, count: number): World => {
  const { list, now } = world;
  const [key, until] = [keyOf(by), leaseEnd(now, 60_000)];
  const plan = planClaim(list, key, count, now);
  const isFreeThere = list.leases.some((lease) => isFree(lease, now));
  switch (plan.do) {
    case 'renew':
      expect(isFree(plan.lease, now)).toBe(true);
      return { ...world, list: { ...list, leases: inPlaceOf(list, [plan.lease], [{ ...plan.lease, until }]) } };
    case 'hand-out':
      expect(plan.lease).toMatchObject({ key });
      return world;
    case 'take': {
      const { from, range, rest } = plan;
      expect(range.count).toBeLessThanOrEqual(count);
      expect(range.count).toBeGreaterThan(0);
      for (const lease of from) expect(isFree(lease, now)).toBe(true);
      expect([range, ...(rest ? [rest] : [])].flatMap(tokensOf), 'the same jobs as before').toEqual(
        from.flatMap(tokensOf),
      );
      if (rest) expect(range.count).toBe(count);
      return {
        ...world,
        list: { ...list, leases: inPlaceOf(list, from, [{ ...range, key, until }, ...(rest ? [rest] : [])]) },
      };
    }
    case 'fresh': {
      expect(isFreeThere, 'free jobs go first').toBe(false);
      expect(plan.count).toBe(Math.min(count, list.total - list.head));
      const lease = { key, first: list.head, count: plan.count, until };
      return { ...world, list: { ...list, head: list.head + plan.count, leases: inPlaceOf(list, [], [lease]) } };
    }
    case 'none':
      expect([isFreeThere, list.head]).toEqual([false, list.total]);
      return world;
    case 'wait':
      expect(list.leases.filter((lease) => !isFree(lease, now))).toHaveLength(CLAIMS_MAX);
      return world;
    case 'refuse':
      throw new Error('an open list hands out jobs');
  }
};

const trigger = (world: World, count: number): World => {
  const { list, gone, now } = world;
  const free = freeToTrigger(list, now).map((lease) => ({ lease, open: without(lease, gone) }));
  const { ranges, from, rest, fresh } = planTrigger(list, count, free);
  const left = countOf(free.flatMap(({ open }) => open)) + list.total - list.head;
  expect(countOf(ranges), 'as many as requested, or all').toBe(Math.min(count, left));
  if (rest) expect(countOf(ranges), 'a rest only if the range was large enough').toBe(count);
  for (const token of ranges.flatMap(tokensOf)) expect(gone.has(token), `job ${token}, again`).toBe(false);
  return {
    ...world,
    gone: new Set([...gone, ...ranges.flatMap(tokensOf)]),
    list: { ...list, head: list.head + fresh, leases: inPlaceOf(list, from, rest ? [rest] : []) },
  };
};

/** Completes or releases a claim. An even claim number completes only half of the jobs, so the claim remains. */
const settle = (world: World, by: number, how: 'complete' | 'release'): World => {
  const { list, gone } = world;
  const mine = list.leases.find(({ key }) => key === keyOf(by));
  if (!mine) return world;
  if (how === 'release') return { ...world, list: { ...list, leases: inPlaceOf(list, [mine], [freed(mine)]) } };
  const done = tokensOf(mine).slice(0, by % 2 === 0 ? Math.ceil(mine.count / 2) : mine.count);
  const isAll = done.length === mine.count;
  return {
    ...world,
    gone: new Set([...gone, ...done]),
    list: isAll ? { ...list, leases: inPlaceOf(list, [mine], []) } : list,
  };
};

const after = (world: World, event: Event): World => {
  switch (event.do) {
    case 'add':
      return { ...world, list: { ...world.list, total: world.list.total + event.count } };
    case 'wait':
      return { ...world, now: world.now + event.count * 1_000 };
    case 'claim':
      return claim(world, event.by, event.count);
    case 'trigger':
      return trigger(world, event.count);
    case 'complete':
    case 'release':
      return settle(world, event.by, event.do);
  }
};

/** Leases do not overlap and lie below head, and no job is lost. */
const check = ({ list, gone }: World): void => {
  let end = 0;
  for (const lease of list.leases) {
    expect(lease.first).toBeGreaterThanOrEqual(end);
    expect(lease.count).toBeGreaterThan(0);
    end = endOf(lease);
  }
  expect(end).toBeLessThanOrEqual(list.head);
  expect(list.head).toBeLessThanOrEqual(list.total);
  expect(new Set(list.leases.map(({ key }) => key)).size).toBe(list.leases.length);
  const known = new Set([...list.leases.flatMap(tokensOf), ...gone]);
  expect(known.size, 'every job below head is leased, triggered or done').toBe(list.head);
};

describe('the jobs a list hands out', () => {
  it('have one holder, free ones go first, and none is lost', () => {
    fc.assert(
      fc.property(fc.array(events, { minLength: 5, maxLength: 120 }), (all) => {
        let world: World = { list: aList({ total: 20 }), gone: new Set(), now: NOW };
        for (const event of all) {
          world = after(world, event);
          check(world);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('are free for others after the lease plus twice the clock skew', () => {
    const until = leaseEnd(NOW, 1_001);
    expect(until).toBe(NOW + 2_000);
    const lease = { key: keyOf(1), first: 0, count: 3, until };
    expect(isFree(lease, until + 2 * CLOCK_SKEW)).toBe(false);
    expect(isFree(lease, until + 2 * CLOCK_SKEW + 1)).toBe(true);
    expect(isFree(freed(lease), 0)).toBe(true);
  });

  it('come from as many ranges at once as one condition can check', () => {
    const leases = Array.from({ length: CLAIMS_MAX }, (_, n) => freed({ first: n, count: 1 }));
    const list = aList({ total: 100, head: CLAIMS_MAX, leases });
    const plan = planClaim(list, keyOf(1), 99, NOW);
    expect(plan).toMatchObject({ do: 'take', range: { first: 0, count: 40 } });
    const free = freeToTrigger(list, NOW);
    expect(free).toHaveLength(40);
    expect(
      planTrigger(
        list,
        70,
        free.map((lease) => ({ lease, open: [lease] })),
      ),
    ).toMatchObject({ fresh: 30 });
  });

  it('end with the list, except for existing claims', () => {
    const lease = { key: keyOf(1), first: 0, count: 3, until: NOW };
    for (const status of ['complete', 'cancelled', 'expired'] as const) {
      const list = aList({ status, total: 9, head: 3, leases: [lease] });
      expect(planClaim(list, keyOf(2), 1, NOW)).toEqual({ do: 'refuse' });
      expect(planClaim(list, keyOf(1), 1, NOW)).toEqual({ do: 'hand-out', lease });
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

const listIds = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/).map((text) => listId(text) as ListId);
const claimIds = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_@-]{0,63}$/);
const handedOut = fc.record({ first: fc.nat(999_999_999_999), count: fc.integer({ min: 1, max: 1_000 }) });

describe('a name', () => {
  it('of a claim is read back, for its own list only', () => {
    fc.assert(
      fc.property(listIds, listIds, claimIds, handedOut, (list, other, text, range) => {
        const claim = claimId(text);
        if (claim === undefined) throw new Error(`no claim's name: ${text}`);
        const handle = handleOf(list, claim, range);
        expect(parseHandle(list, handle)).toEqual({ claim, range });
        if (other !== list) expect(parseHandle(other, handle)).toBe('of-another-list');
        expect(leaseKeyOf(claim)).toHaveLength(8);
        expect(leaseKeyOf(claim)).not.toContain('@');
      }),
    );
  });

  it('of a claim is refused in any other form', () => {
    const handle = handleOf(LIST, claimId('a') as never, { first: 0, count: 1 });
    const mark = handle.split('.').at(-1);
    for (const wrong of [
      '',
      'a',
      'a.0.1',
      `a.0.0.${mark}`,
      `a.00.1.${mark}`,
      `a.0.01.${mark}`,
      `a.-1.1.${mark}`,
      `.0.1.${mark}`,
      `-a.0.1.${mark}`,
      `a.b.0.1.${mark}`,
      `${handle}x`,
      ` ${handle}`,
      `${handle}\n`,
      `a.0.10000.${mark}`,
    ])
      expect(parseHandle(LIST, wrong), JSON.stringify(wrong)).toBe('no-handle');
    for (const wrong of ['', '.', 'a.b', '@a', '-a', '_a', 'ü', 'a b', 'a\n', 'x'.repeat(65), 7, undefined])
      expect(claimId(wrong)).toBeUndefined();
    expect(parseHandle(LIST, `a.0.1.${'x'.repeat(6)}`)).toBe('of-another-list');
  });

  it('of a job is its place in the tracker, and names its task', () => {
    fc.assert(
      fc.property(listIds, fc.nat(99_999_999), fc.integer({ min: 1, max: 450 }), (list, token, width) => {
        const item = itemOf(list, token, width);
        expect(item.group * width + item.index).toBe(token);
        expect(item.index).toBeLessThan(width);
        expect(parseStoredItem(itemIdOf(item))).toEqual(item);
        expect(listOf(trackerOf(list))).toBe(list);
        expect(taskOf(list, token)).toBe(`${list}:${token}`);
        expect(listId(trackerOf(list)), 'no caller can name the tracker').toBeUndefined();
      }),
    );
  });

  it('of a free range is its first job', () => {
    expect(freed({ first: 7, count: 3 })).toEqual({ key: freeKeyOf(7), first: 7, count: 3, until: 0 });
    expect(freeKeyOf(7)).toBe('@7');
  });
});

describe('the plan of a claim', () => {
  const key = 'claim' as LeaseKey;
  const held = (count: number): Lease[] =>
    Array.from({ length: count }, (_, n) => ({ key: `c-${n}` as LeaseKey, first: n, count: 1, until: NOW + 60_000 }));

  it('waits if the maximum number of claims exists, and not with one less', () => {
    for (const [count, plan] of [
      [CLAIMS_MAX - 1, 'fresh'],
      [CLAIMS_MAX, 'wait'],
    ] as const)
      expect(planClaim(aList({ total: 999, head: count, leases: held(count) }), key, 1, NOW).do).toBe(plan);
  });

  it('takes no more ranges than it needs', () => {
    const free = [0, 2, 4].map((first) => freed({ first, count: 2 }));
    const plan = (count: number) => planClaim(aList({ total: 9, head: 6, leases: free }), key, count, NOW);
    expect(plan(2)).toEqual({ do: 'take', from: free.slice(0, 1), range: { first: 0, count: 2 } });
    expect(plan(3)).toMatchObject({
      from: free.slice(0, 2),
      range: { first: 0, count: 3 },
      rest: { first: 3, count: 1 },
    });
  });
});
