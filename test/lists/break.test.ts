import { describe, expect, it } from 'vitest';
import { claimKeyOf } from '../../src/domain/lists/ids.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { cancelRest, discard } from '../../src/steps/fan-outs/end.ts';
import { listedClaims } from '../../src/steps/lists/claims.ts';
import { atEachCut, dyingAt, gateAt } from './cuts.ts';
import { deliveriesIn, expectWhole, holding, listKit, MINUTE, result, tokensIn } from './kit.ts';

const OVER = MINUTE + 2 * CLOCK_SKEW + 1;
const keyOf = (name: string) => claimKeyOf(name as never);
/** @param claimsMax 0: all claims have rows of their own */

describe.each([
  ['in the row of its list', 64],
  ['in a row of its own', 0],
])('a claim %s', (_, claimsMax) => {
  it('that a person ends gives its open jobs to others at once', async () => {
    const kit = await holding(4, { claimsMax });
    const { handle } = await kit.got('a', 4);
    await kit.complete(handle, [result(1)]);
    expect(await kit.break('a')).toEqual({ kind: 'broken', key: keyOf('a'), count: 3 });
    expectWhole(kit);
    const next = await kit.got('b', 2);
    expect(tokensIn(next), 'its jobs are suspect').toEqual([0, 2]);
    expect(deliveriesIn(next)).toEqual([2, 2]);
    expect(await kit.read()).toMatchObject({ leases: expect.arrayContaining([expect.objectContaining({ first: 3 })]) });
    expectWhole(kit);
  });

  it('that was broken is lost to its worker, whose late results do not count', async () => {
    const kit = await holding(2, { claimsMax });
    const { handle } = await kit.got('a', 2);
    await kit.break('a');
    expect(await kit.renew(handle)).toEqual({ kind: 'lost' });
    expect(await kit.complete(handle)).toEqual({ kind: 'lost' });
    expect(await kit.release(handle)).toMatchObject({ kind: 'released', count: 0, failed: 0 });
    expect(kit.done().size).toBe(0);
    const again = await kit.got('a', 1);
    expect(deliveriesIn(again), 'it may claim again').toEqual([2]);
  });

  it('is broken once, also if its lease has ended, and never if there is none', async () => {
    const kit = await holding(2, { claimsMax });
    expect(await kit.break('a')).toEqual({ kind: 'none' });
    await kit.got('a', 2);
    kit.now += OVER;
    expect(await kit.break('a')).toEqual({ kind: 'broken', key: keyOf('a'), count: 2 });
    expect(await kit.break('a')).toEqual({ kind: 'none' });
    expect(tokensIn(await kit.claim('b', 2))).toHaveLength(2);
    expectWhole(kit);
  });

  it('with several leases is broken as a whole', async () => {
    const kit = await holding(6, { claimsMax });
    const all = [await kit.got('a', 2), await kit.got('b', 2), await kit.got('c', 2)];
    for (const { handle } of all) await kit.release(handle, []);
    expect(tokensIn(await kit.claim('d', 6))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await kit.break('d')).toEqual({ kind: 'broken', key: keyOf('d'), count: 6 });
    expect((await kit.read()).leases.every(({ isSuspect, deliveries }) => isSuspect && deliveries === 1)).toBe(true);
    expect(await listedClaims(kit, await kit.read())).toEqual([]);
    expectWhole(kit);
  });

  it('whose jobs are all done leaves nothing', async () => {
    const kit = await holding(2, { claimsMax });
    await kit.got('a', 2);
    await kit.end(['~l:0:0', '~l:0:1']);
    expect(await kit.break('a')).toEqual({ kind: 'broken', key: keyOf('a'), count: 0 });
    expect(await kit.read()).toMatchObject({ leases: [], holders: {} });
    expect(kit.tables.listClaims.size).toBe(0);
    expectWhole(kit);
  });

  it('is broken also in a cancelled list, and unknown in a deleted one', async () => {
    const kit = await holding(2, { claimsMax });
    await kit.got('a', 2);
    await cancelRest(kit, await kit.read());
    expect(await kit.break('a')).toMatchObject({ kind: 'broken', count: 2 });
    await discard(kit, await kit.read());
    expect(await kit.break('a')).toEqual({ kind: 'unknown' });
    expect(await listKit().break('a')).toEqual({ kind: 'unknown' });
  });

  it('keeps its jobs or gives all back, if the break dies or meets another call', async () => {
    for (const meets of ['nothing', 'a renewal', 'a completion', 'a release'] as const)
      await atEachCut(async (n) => {
        const kit = await holding(2, { claimsMax });
        const { handle } = await kit.got('a', 2);
        const between = async (): Promise<void> => {
          if (meets === 'a renewal') await kit.renew(handle, 5 * MINUTE);
          if (meets === 'a completion') await kit.complete(handle);
          if (meets === 'a release') await kit.release(handle, []);
        };
        const { gate, isReached } = meets === 'nothing' ? dyingAt(n, 'after') : gateAt(n, 'before', between);
        const broken = await kit
          .behind(gate)
          .break('a')
          .catch(() => undefined);
        expectWhole(kit);
        const isLeased = (await listedClaims(kit, await kit.read())).length > 0;
        if (broken?.kind === 'broken') expect(isLeased).toBe(false);
        if (meets === 'a renewal') expect(broken, 'the end of a lease does not matter').toMatchObject({ count: 2 });
        return isReached();
      });
  });
});

describe('the claims of a list', () => {
  it('are listed with holders and open jobs, by the end of their leases', async () => {
    const kit = await holding(9, { claimsMax: 2 });
    const a = await kit.got('a', 2, 3 * MINUTE);
    await kit.got('b', 3, MINUTE);
    await kit.got('c', 1, 2 * MINUTE);
    await kit.complete(a.handle, [result(0)]);
    const claims = await listedClaims(kit, await kit.read());
    expect(claims.map(({ key, holder, open, leases }) => [key, holder?.name, open, leases.length])).toEqual([
      [keyOf('b'), "b's worker", 3, 1],
      [keyOf('c'), "c's worker", 1, 1],
      [keyOf('a'), "a's worker", 1, 1],
    ]);
    expect(claims.every(({ holder }) => holder?.since === kit.now)).toBe(true);
    expect(kit.tables.listClaims.size, 'the third one has a row of its own').toBe(1);
  });
});
