/** Pages of slots in memory. */
import type { Millis } from '../domain/ids.ts';
import { PAGE_SIZE, PAGES_TOGETHER } from '../domain/operations/slot-pages.ts';
import type { Slot } from '../domain/operations/slots.ts';
import type { SlotPages } from '../ports/slot-pages.ts';
import { type Gate, through } from '../virtual/gate.ts';
import { type Lag, upToDate } from './remembered.ts';
import { type OwnedPage, pagesOf, putSlotPage, slotPageKey, type Tables } from './tables.ts';

/** A page with the slot added. Returns the page unchanged if it has the slot already, and undefined if it is full. */
export const withSlot = (slots: readonly Slot[], slot: Slot, most: number): readonly Slot[] | undefined =>
  slots.includes(slot) || slots.length < most ? [...new Set([...slots, slot])] : undefined;

/** A page without the slot. Undefined if the page does not have the slot. */
export const withoutSlot = (slots: readonly Slot[], slot: Slot): readonly Slot[] | undefined =>
  slots.includes(slot) ? slots.filter((each) => each !== slot) : undefined;

/** Pages of slots beyond the first page. */
export const memorySlots = <Owner extends string>(
  of: OwnedPage['of'],
  tables: Tables,
  gate: Gate,
  lag: Lag = upToDate,
  pageSize = PAGE_SIZE,
): SlotPages<Owner> => {
  const port = of === 'operation' ? 'operations' : 'locks';
  const slotsOn = (owner: Owner, page: number): readonly Slot[] =>
    tables.slotPages.get(slotPageKey({ of, owner, page }))?.slots ?? [];
  const pagesIn = (owner: Owner, cap: number, lag: Millis) => {
    const last = Math.ceil(Math.ceil(cap / pageSize) / PAGES_TOGETHER) * PAGES_TOGETHER;
    return pagesOf(tables, of, owner, lag).filter(({ page }) => page <= last);
  };
  const put = (owner: Owner, page: number, slots: readonly Slot[]): void =>
    putSlotPage(tables, { of, owner, page, slots }, slotsOn(owner, page));
  return {
    pageSize,
    slotPages: (owner, cap) => through(gate, `${port}.slotPages`, () => pagesIn(owner, cap, 0)),
    slotPagesEventually: (owner, cap) => through(gate, `${port}.slotPagesEventually`, () => pagesIn(owner, cap, lag())),
    slotPage: (owner, page) => through(gate, `${port}.slotPage`, () => slotsOn(owner, page)),
    takeSlot: (owner, slot, most, page = 0) =>
      through(gate, `${port}.takeSlot`, () => {
        const after = withSlot(slotsOn(owner, page), slot, most);
        if (after) put(owner, page, after);
        return after !== undefined;
      }),
    freeSlot: (owner, slot, page = 0) =>
      through(gate, `${port}.freeSlot`, () => {
        const before = slotsOn(owner, page);
        const after = withoutSlot(before, slot);
        if (after) put(owner, page, after);
        return after && before;
      }),
  };
};
