import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClaimRules, planClaim } from '../../src/domain/lists/claiming.ts';
import { endedOf, isolated, releasedOf, unreported } from '../../src/domain/lists/deliveries.ts';
import { parseLeaseKey } from '../../src/domain/lists/ids.ts';
import { claimsIn, freed, isFree, type Lease, type List, leaseEnd } from '../../src/domain/lists/list.ts';
import { countOf, endOf, hasJob, tokensOf } from '../../src/domain/lists/ranges.ts';
import { freeToTrigger, planTake, planTrigger } from '../../src/domain/lists/taking.ts';
import { NOW } from '../factories/factories.ts';
import { aList, keyOf, opened, openOf, sorted } from './pure-kit.ts';

const RULES: ClaimRules = { maxDeliveries: 3, claimsMax: 3, spread: 0 };

/** A list under random events, with all jobs that were ever triggered or done. */
interface World {
  readonly list: List;
  /** The claims in rows of their own. */
  readonly apart: readonly Lease[];
  readonly gone: ReadonlySet<number>;
  readonly now: number;
  /** How often each job was handed out, if the delivery counted. */
  readonly deliveries: ReadonlyMap<number, number>;
}

type Event =
  | { readonly do: 'add' | 'trigger' | 'wait'; readonly count: number }
  | { readonly do: 'claim'; readonly by: number; readonly count: number }
  | { readonly do: 'complete' | 'release' | 'say' | 'gather'; readonly by: number };

const by = fc.integer({ min: 0, max: 9 });
/** Most claims end without an outcome, so that jobs reach their last delivery. */
const WEIGHTED: readonly (readonly [number, fc.Arbitrary<Event>])[] = [
  [1, fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 12 }) })],
  [1, fc.record({ do: fc.constant('trigger' as const), count: fc.integer({ min: 0, max: 8 }) })],
  [2, fc.record({ do: fc.constant('wait' as const), count: fc.integer({ min: 1, max: 120 }) })],
  [10, fc.record({ do: fc.constant('claim' as const), by, count: fc.integer({ min: 1, max: 12 }) })],
  [3, fc.record({ do: fc.constantFrom('complete' as const, 'gather' as const), by })],
  [6, fc.record({ do: fc.constantFrom('release' as const, 'say' as const), by })],
];
/** Workers claim all jobs and give them back, again and again: in every test run a job reaches its last delivery. */
const GIVEN_BACK = Array.from({ length: 5 }, (): Event[] => [
  ...Array.from({ length: 2 }, (_, worker): Event => ({ do: 'claim', by: worker, count: 12 })),
  ...Array.from({ length: 2 }, (_, worker): Event => ({ do: 'release', by: worker })),
]).flat();
const events = fc.oneof(...WEIGHTED.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const inPlaceOf = ({ leases }: List, from: readonly Lease[], to: readonly Lease[]): readonly Lease[] =>
  [...leases.filter((lease) => !from.includes(lease)), ...to].sort((a, b) => a.first - b.first);

/** What {@link planTake} may give: at most as many jobs as requested, and suspect jobs in ever smaller numbers. */
const checkTaken = ({ gone, list, deliveries }: World, to: readonly Lease[], count: number): void => {
  const open = openOf(to, gone);
  expect(open.length, 'at most as many as requested').toBeLessThanOrEqual(count);
  for (const lease of to) {
    if (!lease.isSuspect) continue;
    expect(new Set(to.map((each) => `${each.isSuspect} ${each.deliveries}`)).size, 'not mixed').toBe(1);
    expect(open.length).toBeLessThanOrEqual(isolated(count, lease.deliveries - 1, RULES.maxDeliveries));
    if (lease.deliveries === RULES.maxDeliveries) expect(open, 'alone in its last delivery').toHaveLength(1);
  }
  for (const lease of to)
    for (const token of openOf([lease], gone)) {
      expect(lease.deliveries, `job ${token} was delivered once more`).toBe((deliveries.get(token) ?? 0) + 1);
      expect(token).toBeLessThan(list.total);
    }
};

const claim = (world: World, name: number, count: number): World => {
  const { list, now, gone } = world;
  const key = keyOf(name);
  if (world.apart.some((lease) => lease.claim === key)) return world;
  const plan = planClaim(list, key, count, now, RULES);
  const free = list.leases.filter((lease) => isFree(lease, now));
  switch (plan.do) {
    case 'again':
      expect(plan.leases.every((lease) => lease.claim === key)).toBe(true);
      return world;
    case 'fail':
      for (const { deliveries } of plan.leases) expect(deliveries).toBe(RULES.maxDeliveries);
      return {
        ...world,
        gone: new Set([...gone, ...plan.leases.flatMap(tokensOf)]),
        list: { ...list, leases: inPlaceOf(list, plan.leases, []) },
      };
    case 'take': {
      for (const lease of plan.from) expect(isFree(lease, now)).toBe(true);
      const taking = planTake(list, plan, opened(plan.from, gone), key, leaseEnd(now, 60_000));
      const { from, to, rest, fresh } = taking;
      checkTaken(world, to, count);
      if (!plan.isFreeFirst) expect(fresh, 'fresh jobs first').toBe(Math.min(count, list.total - list.head));
      if (free.length >= 16 && fresh > 0)
        expect(openOf(free, gone).length, 'many free ranges first').toBeLessThan(count);
      expect(sorted(openOf([...to, ...(rest ? [rest] : [])], gone)), 'the same jobs as before').toEqual(
        sorted([...openOf(from, gone), ...tokensOf({ first: list.head, count: fresh })]),
      );
      const row = plan.isApart ? (rest ? [rest] : []) : [...to, ...(rest ? [rest] : [])];
      const counted = to.flatMap((lease) => openOf([lease], gone).map((token) => [token, lease.deliveries] as const));
      return {
        ...world,
        apart: plan.isApart ? [...world.apart, ...to] : world.apart,
        deliveries: new Map([...world.deliveries, ...counted]),
        list: { ...list, head: list.head + fresh, leases: inPlaceOf(list, from, row) },
      };
    }
    case 'none':
      expect([free, list.head]).toEqual([[], list.total]);
      return world;
    case 'refuse':
      throw new Error('an open list hands out jobs');
  }
};

const trigger = (world: World, count: number): World => {
  const { list, gone, now } = world;
  const free = opened(freeToTrigger(list, now), gone);
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

/** Replaces the leases of a claim, wherever they are. */
const replaced = (world: World, mine: readonly Lease[], to: readonly Lease[]): World => ({
  ...world,
  apart: world.apart.filter((lease) => !mine.includes(lease)),
  list: { ...world.list, leases: inPlaceOf(world.list, mine, to) },
});

/** Completes a claim. One with an even number completes only half of its jobs, so the claim remains. */
const complete = (world: World, mine: readonly Lease[], name: number): World => {
  const open = openOf(mine, world.gone);
  const done = open.slice(0, name % 2 === 0 ? Math.ceil(open.length / 2) : open.length);
  const gone = new Set([...world.gone, ...done]);
  return done.length === open.length ? { ...replaced(world, mine, []), gone } : { ...world, gone };
};

/** Releases a claim. @param attempted undefined if the worker does not say which jobs it has begun */
const releaseOf = (world: World, mine: readonly Lease[], attempted: ReadonlySet<number> | undefined): World => {
  const { gone } = world;
  const all = opened(mine, gone);
  const parts = all.flatMap((each) => {
    const whole = unreported(all, RULES.maxDeliveries).filter(({ first }) => hasJob(each.lease, first));
    const to = attempted ? releasedOf(each, attempted, mine.length) : whole;
    expect(sorted(openOf(to, gone)), 'all open jobs are released').toEqual(openOf([each.lease], gone));
    expect(to.length * mine.length, 'no more ranges than one write can store').toBeLessThanOrEqual(40);
    return to;
  });
  for (const part of parts)
    for (const token of openOf([part], gone)) {
      const counted = world.deliveries.get(token) ?? 0;
      // No delivery counts for a job that was not begun. Without a report, a last delivery in company is repeated.
      const isRepeated = !attempted && counted === RULES.maxDeliveries && openOf(mine, gone).length > 1;
      const least = isRepeated || (attempted && !attempted.has(token)) ? counted - 1 : counted;
      expect(part.deliveries, `job ${token}`).toBeGreaterThanOrEqual(least);
      expect(part.deliveries, `job ${token}`).toBeLessThanOrEqual(counted);
    }
  const counted = parts.flatMap((part) => openOf([part], gone).map((token) => [token, part.deliveries] as const));
  return { ...replaced(world, mine, parts), deliveries: new Map([...world.deliveries, ...counted]) };
};

/** Moves an ended claim from its own row into the list's row. */
const gather = (world: World, mine: readonly Lease[]): World => {
  const ended = mine.filter((lease) => world.apart.includes(lease) && isFree(lease, world.now));
  return ended.length === 0
    ? world
    : replaced(
        world,
        ended,
        ended.map((lease) => freed(lease, endedOf(lease))),
      );
};

const settle = (world: World, name: number, how: 'complete' | 'release' | 'say' | 'gather'): World => {
  const mine = [...world.list.leases, ...world.apart].filter((lease) => lease.claim === keyOf(name));
  if (mine.length === 0) return world;
  switch (how) {
    case 'complete':
      return complete(world, mine, name);
    case 'release':
      return releaseOf(world, mine, undefined);
    case 'say':
      // The worker was in the middle of every third job.
      return releaseOf(world, mine, new Set(openOf(mine, world.gone).filter((token) => token % 3 === name % 3)));
    case 'gather':
      return gather(world, mine);
  }
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
    default:
      return settle(world, event.by, event.do);
  }
};

/** Leases do not overlap and lie below head, and no job is lost. */
const check = ({ list, apart, gone, now, deliveries }: World): void => {
  const all = [...list.leases, ...apart].sort((a, b) => a.first - b.first);
  let end = 0;
  for (const lease of all) {
    expect(lease.first).toBeGreaterThanOrEqual(end);
    expect(lease.count).toBeGreaterThan(0);
    expect(parseLeaseKey(lease.key)).toEqual({
      ...(lease.claim === undefined ? {} : { claim: lease.claim }),
      deliveries: lease.deliveries,
      isSuspect: lease.isSuspect,
    });
    end = endOf(lease);
  }
  expect(end).toBeLessThanOrEqual(list.head);
  expect(list.head).toBeLessThanOrEqual(list.total);
  expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  expect(claimsIn(list, now)).toBeLessThanOrEqual(RULES.claimsMax);
  expect(Math.max(0, ...deliveries.values())).toBeLessThanOrEqual(RULES.maxDeliveries);
  const known = new Set([...all.flatMap(tokensOf), ...gone]);
  expect(known.size, 'every job below head is leased, triggered or done').toBe(list.head);
};

describe('the jobs a list hands out', () => {
  it('have one holder, in the right order and number, and none is lost', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(events, { minLength: 5, maxLength: 120 }), (all) => {
        let world: World = { list: aList({ total: 20 }), apart: [], gone: new Set(), now: NOW, deliveries: new Map() };
        for (const event of all) {
          world = after(world, event);
          check(world);
          if (world.apart.length > 0) seen.add('apart');
          if (world.list.leases.some(({ isSuspect }) => isSuspect)) seen.add('suspect');
          if (world.list.leases.some(({ deliveries }) => deliveries === RULES.maxDeliveries)) seen.add('last delivery');
          if (world.list.leases.some(({ key }) => key.includes('~'))) seen.add('several leases');
        }
      }),
      { numRuns: 601, examples: [[GIVEN_BACK]] },
    );
    expect(sorted([...seen]), 'the events reach every kind of state').toEqual([
      'apart',
      'last delivery',
      'several leases',
      'suspect',
    ]);
  });
});
