/** Lists that an older release opened, or whose claims its functions ended. */
import { describe, expect, it } from 'vitest';
import { FIRST } from '../../src/domain/lists/deliveries.ts';
import type { ClaimKey } from '../../src/domain/lists/ids.ts';
import { freed, type List } from '../../src/domain/lists/list.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { expectWhole, holding, LIST, type ListKit, listKit, MINUTE, tokensIn } from './kit.ts';

const TRACKER = `~${LIST}` as never;
const OVER = MINUTE + 2 * CLOCK_SKEW + 1_000;

describe('a list of an older release', () => {
  /** Makes the row as the older release stored it. */
  const age = (kit: ListKit): void => {
    const { holders: _, ...list } = kit.tables.fanOuts.get(TRACKER) as List;
    kit.tables.fanOuts.set(TRACKER, list as never);
  };

  it.each([64, 0])('works as before, with %i claims in its row at most', async (claimsMax) => {
    const kit = listKit({ claimsMax });
    await kit.open();
    await kit.add(9, 'add');
    age(kit);
    const [a, b] = [await kit.got('a', 2), await kit.got('b', 2)];
    expect(await kit.got('a', 2)).toEqual(a);
    expect(await kit.renew(a.handle)).toMatchObject({ kind: 'renewed' });
    await kit.complete(a.handle);
    expect(await kit.release(b.handle, [2])).toMatchObject({ kind: 'released', count: 2, failed: 0 });
    expect(tokensIn(await kit.claim('c', 9))).toEqual([3, 2, 4, 5, 6, 7, 8]);
    expect(await kit.break('c')).toMatchObject({ kind: 'broken', count: 7 });
    kit.now += OVER;
    expect(await kit.trigger(3)).toEqual({ kind: 'triggered', count: 3 });
    await kit.got('d', 9);
    kit.now += OVER;
    await kit.got('e', 1);
    expect((await kit.read()).holders).toBeUndefined();
    expectWhole(kit);
  });

  it('loses the holders of claims that the older release ends', async () => {
    const kit = await holding(9, { claimsMax: 1 });
    const { handle } = await kit.got('a', 2);
    const [key] = Object.keys((await kit.read()).holders ?? {}) as ClaimKey[];
    const list = await kit.read();
    kit.tables.fanOuts.set(TRACKER, { ...list, leases: [freed({ first: 0, count: 2 }, FIRST)] } as never);
    expect(await kit.renew(handle)).toEqual({ kind: 'lost' });
    expect(tokensIn(await kit.claim('a', 2)), 'the same id again').toEqual([2, 3]);
    expect(Object.keys((await kit.read()).holders ?? {})).toEqual([key]);
    kit.tables.fanOuts.set(TRACKER, { ...list, leases: [freed({ first: 0, count: 2 }, FIRST)] } as never);
    await kit.trigger(1);
    expect((await kit.read()).holders).toEqual({});
  });

  it('accepts any amount for the token of its trigger', async () => {
    const kit = await holding(9, { claimsMax: 1 });
    await kit.trigger(4);
    const name = `${LIST}#t`;
    const { wanted: _, ...old } = kit.tables.listTriggers.get(name) ?? { ranges: [], started: 0 };
    kit.tables.listTriggers.set(name, old);
    expect(await kit.trigger(5)).toEqual({ kind: 'triggered', count: 4 });
  });
});
