import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  capOfPage,
  capToShare,
  type Layout,
  placeFor,
  type SlotPage,
  taken,
} from '../../src/domain/operations/slot-pages.ts';
import { type Slot, slotOf } from '../../src/domain/operations/slots.ts';
import { target } from '../factories/factories.ts';

const slot = (n: number): Slot => slotOf(target(`ship/depot=${n}`), 1, 1);
const slots = (count: number, from = 0): readonly Slot[] => Array.from({ length: count }, (_, n) => slot(from + n));
const ofOperation = (cap: number): Layout => ({ cap, size: 10, from: 0 });

describe('the pages of a cap', () => {
  it('have slots that add up to the cap', () => {
    for (const [cap, from] of [
      [1, 0],
      [10, 0],
      [11, 0],
      [25, 1],
      [1_000, 1],
    ] as const) {
      const caps = Array.from({ length: 102 }, (_, n) => capOfPage(from + n, { cap, size: 10, from }));
      expect([cap, caps.reduce((sum, each) => sum + each, 0)]).toEqual([cap, cap]);
      expect(Math.max(...caps)).toBe(Math.min(10, cap));
    }
  });
});

describe('the cap shared by pages', () => {
  const anyPages = fc
    .uniqueArray(fc.record({ page: fc.nat({ max: 12 }), count: fc.nat({ max: 14 }) }), { selector: ({ page }) => page })
    .map((all): SlotPage[] => all.map(({ page, count }) => ({ page, slots: slots(count, page * 100) })));
  const anyLayout = fc.record({ cap: fc.integer({ min: 1, max: 90 }), from: fc.nat({ max: 1 }) });

  it('is used up and never exceeded, whatever an earlier cap left', () => {
    fc.assert(
      fc.property(anyPages, anyLayout, (pages, { cap, from }) => {
        const layout: Layout = { cap, size: 10, from };
        const shared = { ...layout, cap: capToShare(pages, layout) };
        const countOf = new Map(pages.map((each) => [each.page, each.slots.length]));
        const filled = Array.from({ length: 110 }, (_, page) =>
          Math.max(countOf.get(page) ?? 0, capOfPage(page, shared)),
        );
        expect(filled.reduce((sum, each) => sum + each, 0)).toBe(Math.max(cap, taken(pages)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the page for a slot', () => {
  it('is the one that has the slot, even if a lower cap no longer uses it', () => {
    const pages: SlotPage[] = [
      { page: 0, slots: slots(3) },
      { page: 7, slots: [slot(50)] },
    ];
    expect(placeFor(slot(50), pages, ofOperation(20))).toEqual({ is: 'held', page: 7 });
    expect(placeFor(slot(1), pages, ofOperation(20))).toEqual({ is: 'held', page: 0 });
  });

  it('is the only page with a free slot', () => {
    const pages: SlotPage[] = [
      { page: 0, slots: slots(10) },
      { page: 1, slots: slots(9, 10) },
      { page: 2, slots: slots(5, 20) },
    ];
    expect(placeFor(slot(99), pages, ofOperation(25))).toEqual({ is: 'free', page: 1, most: 10 });
    expect(placeFor(slot(99), pages.slice(1), { cap: 15, size: 10, from: 1 })).toEqual({
      is: 'free',
      page: 1,
      most: 10,
    });
  });

  it('does not exist if the cap is reached, also by slots on other pages', () => {
    const full: SlotPage[] = [
      { page: 0, slots: slots(10) },
      { page: 1, slots: slots(5, 10) },
    ];
    expect(placeFor(slot(99), full, ofOperation(15))).toEqual({ is: 'full' });
    // The cap was lowered: its own pages have free slots, but as many batches as allowed are under way.
    expect(placeFor(slot(99), [{ page: 9, slots: slots(10) }], ofOperation(10))).toEqual({ is: 'full' });
  });

  it('is the same for every function, and varies over all pages', () => {
    const places = slots(200).map((each) => placeFor(each, [], ofOperation(100)));
    expect(slots(200).map((each) => placeFor(each, [{ page: 0, slots: [] }], ofOperation(100)))).toEqual(places);
    const pages = new Set(places.map((each) => (each.is === 'free' ? each.page : undefined)));
    expect(pages).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  });
});
