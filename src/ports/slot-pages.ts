/** The store of slots on pages. It is the same for operations and Targets. */
import type { SlotPage } from '../domain/operations/slot-pages.ts';
import type { Slot } from '../domain/operations/slots.ts';

/** Slots for batches, on pages (src/domain/operations/slot-pages.ts). A page without a row has no slots. */
export interface SlotPages<Owner> {
  /** Most slots of a page. */
  readonly pageSize: number;
  /** The stored pages for a cap, except the first one (page 0), in no order. */
  slotPages(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** Like `slotPages`, at half the cost, because the read is eventually consistent. */
  slotPagesEventually(owner: Owner, cap: number): Promise<readonly SlotPage[]>;
  /** The slots of one page, except page 0. */
  slotPage(owner: Owner, page: number): Promise<readonly Slot[]>;
  /**
   * Takes a slot on a page if fewer than `most` of the page are taken. Also true if this slot is on the page already.
   * @param page 0 if left out
   */
  takeSlot(owner: Owner, slot: Slot, most: number, page?: number): Promise<boolean>;
  /** Frees a slot of a page. Returns the page's slots as they were before, or undefined if the slot was not taken. */
  freeSlot(owner: Owner, slot: Slot, page?: number): Promise<readonly Slot[] | undefined>;
}
