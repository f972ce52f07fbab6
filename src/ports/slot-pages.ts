/** Slots of an operation or a Target, on pages. */
import type { SlotPage } from '../domain/operations/slot-pages.ts';
import type { Slot } from '../domain/operations/slots.ts';

/** Slots for batches, on pages (src/domain/operations/slot-pages.ts). A page that has no row has no slots. */
export interface SlotPages<Owner> {
  /** Slots of a page at the most. */
  readonly pageSize: number;
  /** Pages beyond the first one, 0: those of `cap` slots that have a row, in no order. */
  slotPages(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** The same for half the price. Eventually consistent. */
  slotPagesEventually(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** The slots of one of these pages. */
  slotPage(owner: Owner, page: number): Promise<readonly Slot[]>;
  /** Takes a slot of a page, or still has it, if fewer than `most` of that page are taken. @param page 0 where left out */
  takeSlot(owner: Owner, slot: Slot, most: number, page?: number): Promise<boolean>;
  /** Gives a slot of a page back. Answers the page's slots as they were, or undefined if it was not taken. */
  freeSlot(owner: Owner, slot: Slot, page?: number): Promise<readonly Slot[] | undefined>;
}
