import { expect, it } from 'vitest';
import {
  type ClaimKey,
  claimId,
  claimKeyOf,
  type LeaseKey,
  type ListId,
  trackerOf,
} from '../../src/domain/lists/ids.ts';
import { type Apart, freed, type Lease, leased as leasedBy, type StoredClaim } from '../../src/domain/lists/list.ts';
import type { LeaseChange } from '../../src/ports/lists.ts';
import { NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { ALL, free, HOLDER, key, lease, listsIn, TAKING, token, UNTIL } from './list-kit.ts';
import { storeKinds } from './stores.ts';

const claimOf = (name: string) => claimKeyOf(claimId(name) as never);
/** A claim with one lease for each pair of a first job and a count. */
const claim = (name: string, ranges: readonly (readonly [number, number])[], until = UNTIL): StoredClaim => ({
  key: claimOf(name),
  leases: ranges.map(([first, count], place) =>
    leasedBy(claimOf(name), place, { first, count, deliveries: 1 + place, isSuspect: place === 2 }, until),
  ),
  holder: HOLDER,
});
const [A, B, D] = ['a', 'b', 'd'] as unknown as readonly [ClaimKey, ClaimKey, ClaimKey];
const MANY_GONE = Array.from({ length: 39 }, (_, n) => ({ claim: `claim-${n + 20}` as ClaimKey }));
const ONE: Apart = { count: 1, until: UNTIL };

describeEach('claims of deferred lists', storeKinds, (stores) => {
  const { store, holding, leased, change } = listsIn(stores);
  const put = (id: ListId, stored: StoredClaim, fields: Partial<LeaseChange & { becomes: Apart }> = {}) =>
    store().putApart(id, stored, {
      from: [],
      to: [],
      isHandingOut: true,
      gone: [],
      apart: 'none',
      becomes: ONE,
      ...fields,
    });
  const read = async (id: ListId) => {
    const list = await store().read(id);
    if (!list) throw new Error('it was not opened');
    return list;
  };
  /** A list whose jobs 0 to 5 are in a claim with three leases and a row of its own. */
  const withApart = async () => {
    const id = await holding(10);
    const mine = claim('mine', [
      [0, 1],
      [1, 2],
      [3, 3],
    ]);
    expect(await put(id, mine, { fresh: { head: 0, count: 6 } })).toBe(true);
    return { id, mine };
  };

  it('keep who made them, until their leases are replaced', async () => {
    const id = await holding(10);
    const anonymous = { since: HOLDER.since };
    await leased(id, 'a', 2, { begins: { claim: A, holder: HOLDER } });
    await leased(id, 'b', 2, { begins: { claim: B, holder: anonymous } });
    await leased(id, 'c', 2);
    expect((await read(id)).holders).toEqual({ a: HOLDER, b: anonymous });
    const [a, b] = [lease('a', 0, 2), lease('b', 2, 2)];
    expect(await change(id, [a], [{ ...a, until: UNTIL + 1_000 }]), 'a renewal').toBe(true);
    expect((await read(id)).holders).toEqual({ a: HOLDER, b: anonymous });
    const released = { from: [{ ...a, until: UNTIL + 1_000 }], to: [free(0, 2)], gone: [{ claim: A }] };
    expect(await store().change(id, released), 'a release').toBe(true);
    expect((await read(id)).holders).toEqual({ b: anonymous });
    const taken = {
      from: [free(0, 2), b],
      to: [lease('d', 0, 4)],
      gone: [{ claim: B }],
      begins: { claim: D, holder: HOLDER },
    };
    expect(await store().change(id, taken)).toBe(true);
    expect((await read(id)).holders).toEqual({ d: HOLDER });
  });

  it('lose a leftover holder only as it was read', async () => {
    const id = await holding(10);
    await leased(id, 'a', 2, { begins: { claim: A, holder: HOLDER } });
    const was = { ...HOLDER, name: 'another' };
    const [a, later] = [lease('a', 0, 2), lease('a', 0, 2)];
    expect(await store().change(id, { from: [a], to: [later], gone: [{ claim: A, was }] })).toBe(false);
    expect(await store().change(id, { from: [a], to: [later], gone: [{ claim: A, was: HOLDER }] })).toBe(true);
    expect((await read(id)).holders).toEqual({});
  });

  it('begin only if their holder in the list is as it was read', async () => {
    const id = await holding(10);
    await leased(id, 'a', 2, { begins: { claim: A, holder: HOLDER } });
    const other = { ...HOLDER, since: HOLDER.since + 1_000 };
    const again = { from: [], to: [lease('a*2', 5, 1)], gone: [] };
    for (const was of [undefined, other]) {
      const begins = { claim: A, holder: other, ...(was ? { was } : {}) };
      expect(await leased(id, 'a*2', 2, { begins })).toBeUndefined();
      expect(await store().change(id, { ...again, begins })).toBe(false);
      expect(await put(id, { ...claim('mine', [[5, 1]]), key: A }, { begins })).toBe(false);
    }
    const begins = { claim: A, holder: other, was: HOLDER };
    expect(await leased(id, 'a*2', 2, { begins })).toMatchObject({ first: 2 });
    expect(await store().change(id, { ...again, to: [lease('a*3', 5, 1)], begins: { ...begins, was: other } })).toBe(
      true,
    );
    expect((await read(id)).holders).toEqual({ a: other });
  });

  it('take free and fresh jobs in one write, if the head is as read', async () => {
    const id = await holding(10);
    await leased(id, 'a', 2);
    await change(id, [lease('a', 0, 2)], [free(0, 2)]);
    const to = [lease('b', 0, 2), lease('b~1', 2, 3)];
    const taking = { from: [free(0, 2)], to, isHandingOut: true, gone: [] };
    for (const head of [1, 3])
      expect(await store().change(id, { ...taking, fresh: { head, count: 3 } }), `head ${head}`).toBe(false);
    expect(await store().change(id, { ...taking, fresh: { head: 2, count: 3 } })).toBe(true);
    expect(await read(id)).toMatchObject({ head: 5, leases: to.map((each) => ({ key: each.key, first: each.first })) });
  });

  it('keep their deliveries and marks in the keys of their leases', async () => {
    const id = await holding(10);
    await leased(id, 'a', 9);
    const to: readonly Lease[] = [
      leasedBy(claimOf('b'), 0, { first: 0, count: 3, deliveries: 4, isSuspect: true }, UNTIL),
      leasedBy(claimOf('b'), 1, { first: 3, count: 1, deliveries: 2, isSuspect: false }, UNTIL),
      freed({ first: 4, count: 2 }, { deliveries: 3, isSuspect: true }),
      freed({ first: 6, count: 3 }, { deliveries: 1, isSuspect: false }),
    ];
    expect(await change(id, [lease('a', 0, 9)], to)).toBe(true);
    expect((await read(id)).leases).toEqual(to);
  });

  it('are stored in rows of their own with their jobs, or not at all', async () => {
    const id = await holding(10);
    await leased(id, 'a', 2);
    await change(id, [lease('a', 0, 2)], [free(0, 2)]);
    const mine = claim('mine', [
      [0, 1],
      [2, 3],
    ]);
    const taking = { from: [free(0, 2)], to: [free(1, 1)], fresh: { head: 2, count: 3 } };
    for (const [wrong, why] of [
      [{ fresh: { head: 3, count: 3 } }, 'another head'],
      [{ from: [free(0, 3)] }, 'another free range'],
      [{ apart: ONE }, 'other claims in rows of their own'],
    ] as const)
      expect(await put(id, mine, { ...taking, ...wrong }), why).toBe(false);
    expect(await store().claimApart(id, mine.key)).toBeUndefined();
    expect(await put(id, mine, taking)).toBe(true);
    expect(await store().claimApart(id, mine.key)).toEqual(mine);
    expect(await read(id)).toMatchObject({ head: 5, leases: [free(1, 1)], apart: ONE });
    const again = { apart: ONE, becomes: { count: 2, until: UNTIL }, fresh: { head: 5, count: 1 } };
    expect(await put(id, mine, again), 'a claim that has jobs').toBe(false);
    expect(await read(id)).toMatchObject({ head: 5, apart: ONE });
    expect(await put(id, claim('next', [[5, 1]]), again)).toBe(true);
    expect(await read(id)).toMatchObject({ head: 6, apart: { count: 2, until: UNTIL } });
  });

  it('in rows of their own are listed for their list only', async () => {
    const [{ id, mine }, other] = [await withApart(), await withApart()];
    const next = claim('next', [[6, 1]]);
    const { holder: _, ...anonymous } = next;
    await put(id, anonymous, { fresh: { head: 6, count: 1 }, apart: ONE, becomes: { count: 2, until: UNTIL } });
    const all = await store().claimsApart(id);
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining([mine, anonymous]));
    expect(await store().claimsApart(other.id)).toEqual([other.mine]);
    expect(await store().claimsApart(await holding(1))).toEqual([]);
  });

  it('get no row of their own once the list is cancelled', async () => {
    const id = await holding(3);
    const cancelled = { status: 'cancelled', from: ['open'], because: 'cancelled', failed: 0 } as const;
    await stores().fanOuts.end(trackerOf(id), { ...cancelled, at: NOW, checkAt: NOW });
    const mine = claim('mine', [[0, 1]]);
    expect(await put(id, mine, { fresh: { head: 0, count: 1 } })).toBe(false);
    expect(await store().claimApart(id, mine.key)).toBeUndefined();
  });

  it('in rows of their own are renewed and end only if their leases are as they were read', async () => {
    const { id, mine } = await withApart();
    const later = mine.leases.map((each) => ({ ...each, until: UNTIL + 60_000 }));
    const fewer = { ...mine, leases: mine.leases.slice(0, 2) };
    expect(await store().changeApart(id, fewer, later), 'other leases').toBe(false);
    expect(await store().changeApart(id, { ...mine, key: claimOf('none') }, []), 'another claim').toBe(false);
    expect(await store().changeApart(id, mine, later)).toBe(true);
    expect(await store().claimApart(id, mine.key)).toEqual({ ...mine, leases: later });
    expect(await store().changeApart(id, mine, mine.leases), 'whenever its leases end').toBe(true);
    expect(await store().changeApart(id, mine, [])).toBe(true);
    expect(await store().claimApart(id, mine.key)).toBeUndefined();
    expect(await store().changeApart(id, mine, []), 'again').toBe(false);
    expect(await read(id), 'the number is at most the number of rows').toMatchObject({ apart: ONE });
  });

  it('in rows of their own give jobs back to the row of the list', async () => {
    const { id, mine } = await withApart();
    const keep = [{ ...(mine.leases[0] as Lease) }];
    const to = [free(1, 2), free(3, 3)];
    const moved = (leases: readonly Lease[]) => [{ claim: { ...mine, leases }, keep }];
    expect(await store().gather(id, moved(mine.leases.slice(1)), to), 'other leases').toBe(false);
    expect((await read(id)).leases).toEqual([]);
    expect(await store().gather(id, moved(mine.leases), to)).toBe(true);
    expect(await store().claimApart(id, mine.key)).toEqual({ ...mine, leases: keep });
    expect(await read(id)).toMatchObject({ leases: to, apart: ONE });
    expect(
      await store().gather(id, [{ claim: { ...mine, leases: keep }, keep: [] }], [free(1, 1)]),
      'a key that is taken',
    ).toBe(false);
    expect(await store().claimApart(id, mine.key)).toBeDefined();
  });

  it('in rows of their own are gathered if all is as it was read', async () => {
    const { id, mine } = await withApart();
    const moved = [{ claim: mine, keep: [] }];
    const to = [free(0, 6)];
    const none: Apart = { count: 0, until: UNTIL };
    for (const was of [
      { count: 2, until: UNTIL },
      { count: 1, until: UNTIL + 1_000 },
    ])
      expect(await store().gather(id, moved, to, { was, becomes: none })).toBe(false);
    const renewed = mine.leases.map((each) => ({ ...each, until: UNTIL + 60_000 }));
    await store().changeApart(id, mine, renewed);
    expect(await store().gather(id, moved, to, { was: ONE, becomes: none }), 'a renewed claim').toBe(false);
    await store().changeApart(id, mine, mine.leases);
    expect(await store().gather(id, moved, to, { was: ONE, becomes: none })).toBe(true);
    const list = await read(id);
    expect([list.leases, list.apart]).toEqual([to, undefined]);
    expect(await store().claimsApart(id)).toEqual([]);
  });

  it('in rows of their own can be counted again without moving any', async () => {
    const { id, mine } = await withApart();
    const becomes = { count: 3, until: UNTIL - 60_000 };
    expect(await store().gather(id, [], [], { was: ONE, becomes })).toBe(true);
    expect(await read(id)).toMatchObject({ apart: becomes, leases: [] });
    expect(await store().claimApart(id, mine.key)).toEqual(mine);
  });

  it('twenty of them are gathered at once', async () => {
    const id = await holding(30);
    let apart: Apart | 'none' = 'none';
    const all = Array.from({ length: 20 }, (_, n) => claim(`claim-${n}`, [[n, 1]]));
    for (const [n, each] of all.entries()) {
      const becomes: Apart = { count: n + 1, until: UNTIL };
      expect(await put(id, each, { fresh: { head: n, count: 1 }, apart, becomes })).toBe(true);
      apart = becomes;
    }
    const was = { count: 20, until: UNTIL };
    const to = all.flatMap(({ leases }) => leases.map((each) => freed(each, { deliveries: 1, isSuspect: true })));
    const moved = all.map((each) => ({ claim: each, keep: [] }));
    expect(await store().gather(id, moved, to, { was, becomes: { count: 0, until: UNTIL } })).toBe(true);
    expect((await read(id)).leases).toEqual(to);
    expect(await store().claimsApart(id)).toEqual([]);
  });

  it('are in the row only if the claims in rows of their own are as they were read', async () => {
    const { id } = await withApart();
    expect(await leased(id, 'a', 1), 'none was read').toBeUndefined();
    for (const apart of [
      { count: 2, until: UNTIL },
      { count: 1, until: UNTIL - 1_000 },
    ])
      expect(await leased(id, 'a', 1, { apart })).toBeUndefined();
    expect(await leased(id, 'a', 1, { apart: ONE })).toEqual(lease('a', 6, 1));
    expect(await store().change(id, { from: [lease('a', 6, 1)], to: [], gone: [], apart: 'none' })).toBe(false);
    expect(await store().change(id, { from: [lease('a', 6, 1)], to: [], gone: [], apart: ONE })).toBe(true);
  });

  it('remove holders when a trigger takes their jobs', async () => {
    const id = await holding(10);
    await leased(id, 'a', 4, { begins: { claim: A, holder: HOLDER } });
    const taking = {
      ...TAKING,
      ranges: [{ first: 0, count: 2 }],
      from: [lease('a', 0, 4)],
      rest: free(2, 2),
      head: 4,
      fresh: 0,
      gone: [{ claim: A }],
    };
    expect(await store().take(id, token('t'), taking)).toBe(true);
    expect(await read(id)).toMatchObject({ holders: {}, leases: [free(2, 2)] });
  });

  it('of twenty leases are changed at once, with the longest keys', async () => {
    const id = await holding(400);
    const long = (n: number): LeaseKey => key(`claim-01~${n}!100`);
    await leased(id, 'a', 400, { total: 400, begins: { claim: A, holder: HOLDER } });
    const pieces = Array.from(
      { length: 20 },
      (_, n): Lease => ({ ...lease('claim-01', 20 * n, 10), key: long(n), deliveries: 100, isSuspect: true }),
    );
    expect(await change(id, [lease('a', 0, 400)], pieces)).toBe(true);
    const to = pieces.map(({ first }) => freed({ first, count: 10 }, { deliveries: 100, isSuspect: true }));
    expect(await change(id, pieces, to)).toBe(true);
    const back = { from: to, to: pieces, isHandingOut: true, apart: 'none' as const, fresh: { head: 400, count: 0 } };
    const begins = { claim: 'claim-01' as ClaimKey, holder: HOLDER };
    expect(await store().change(id, { ...back, begins, gone: [{ claim: A }, ...MANY_GONE] })).toBe(true);
    expect((await read(id)).leases).toEqual(pieces);
    expect((await read(id)).holders).toEqual({ 'claim-01': HOLDER });
  });

  it('are deleted with the other rows of their list', async () => {
    const { id, mine } = await withApart();
    expect(await store().clear(id, 1, 0, ALL)).toBeUndefined();
    expect(await store().claimApart(id, mine.key)).toBeUndefined();
  });
});
