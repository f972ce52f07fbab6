import { expect, it } from 'vitest';
import { type Slot, slotOf } from '../../src/domain/operations/slots.ts';
import type { SlotPages } from '../../src/ports/slot-pages.ts';
import { operationName, target } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { type Stores, storeKinds } from './stores.ts';

let made = 0;

describeEach('slot pages', storeKinds, (stores) => {
  const owners: readonly [string, () => Pick<SlotPages<string>, keyof SlotPages<string>>][] = [
    ['an operation', () => stores().operations as Stores['operations'] as SlotPages<string>],
    ['a Target', () => stores().locks as Stores['locks'] as SlotPages<string>],
  ];
  const fresh = (of: string) => {
    made += 1;
    const operation = operationName(`paged-${made}`);
    const owner = of === 'a Target' ? target(`${operation}/depot=1`) : operation;
    return { owner, slot: (n: number): Slot => slotOf(target(`${operation}/depot=${n}`), 1, n) };
  };
  const sorted = (pages: Awaited<ReturnType<SlotPages<string>['slotPages']>>) =>
    pages
      .map(({ page, slots }) => ({ page, slots: [...slots].sort() }))
      .filter(({ slots }) => slots.length > 0)
      .toSorted((a, b) => a.page - b.page);

  it.each(owners)("of %s give slots up to the page's cap; a repeated take succeeds", async (of, store) => {
    const { owner, slot } = fresh(of);
    const take = (n: number, page: number) => store().takeSlot(owner, slot(n), 2, page);
    expect([await take(1, 1), await take(2, 1), await take(3, 1), await take(1, 1)]).toEqual([true, true, false, true]);
    expect(await take(3, 17)).toBe(true);
    expect(sorted(await store().slotPages(owner, 200))).toEqual([
      { page: 1, slots: [slot(1), slot(2)] },
      { page: 17, slots: [slot(3)] },
    ]);
    expect(sorted(await store().slotPagesEventually(owner, 200))).toHaveLength(2);
    expect([...(await store().slotPage(owner, 17)), ...(await store().slotPage(owner, 2))]).toEqual([slot(3)]);
  });

  it.each(owners)('of %s release a slot once, and return the former slots', async (of, store) => {
    const { owner, slot } = fresh(of);
    for (const n of [1, 2]) await store().takeSlot(owner, slot(n), 2, 3);
    expect([...((await store().freeSlot(owner, slot(1), 3)) ?? [])].sort()).toEqual([slot(1), slot(2)]);
    expect(await store().freeSlot(owner, slot(1), 3)).toBeUndefined();
    expect(await store().freeSlot(owner, slot(2), 4)).toBeUndefined();
    expect(await store().takeSlot(owner, slot(3), 2, 3)).toBe(true);
    expect(await store().slotPage(owner, 3)).toHaveLength(2);
  });

  it.each(owners)('of %s are read sixteen at a time, also beyond the cap', async (of, store) => {
    const { owner, slot } = fresh(of);
    for (const page of [5, 16, 17]) await store().takeSlot(owner, slot(page), 2, page);
    expect(sorted(await store().slotPages(owner, 12)).map(({ page }) => page)).toEqual([5, 16]);
  });

  it('of a Target are deleted if they are empty', async () => {
    const { owner, slot } = fresh('a Target');
    const where = target(owner);
    const { locks } = stores();
    for (const n of [1, 2]) await locks.takeSlot(where, slot(n), 1, n);
    await locks.freeSlot(where, slot(1), 1);
    await locks.dropPages(where, [1, 2]);
    expect((await locks.slotPages(where, 20)).map(({ page }) => page)).toEqual([2]);
    expect(await locks.slotPage(where, 2)).toEqual([slot(2)]);
    // A deleted page is created again by the next take.
    expect(await locks.takeSlot(where, slot(3), 1, 1)).toBe(true);
  });
});
