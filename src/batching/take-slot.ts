/** Takes a slot on one of several pages, and gives it back (src/batching/slot-pages.ts). */
import type { SlotPages } from '../ports.ts';
import { capOfPage, type Layout, placeFor, type SlotPage } from './slot-pages.ts';
import type { Slot } from './slots.ts';

type Pages<Owner> = Pick<SlotPages<Owner>, 'slotPages' | 'slotPagesEventually'>;

/** The pages of a cap, the first one among them. @param isSure whether they have to be as they are now, for twice the price */
export const pagesOf = async <Owner>(
  store: Pages<Owner> & Pick<SlotPages<Owner>, 'pageSize'>,
  owner: Owner,
  first: readonly Slot[],
  { cap, from }: Pick<Layout, 'cap' | 'from'>,
  isSure: boolean,
): Promise<readonly SlotPage[]> => {
  const own = { page: 0, slots: first };
  if (from === 0 && cap <= store.pageSize) return [own];
  return [own, ...(await (isSure ? store.slotPages(owner, cap) : store.slotPagesEventually(owner, cap)))];
};

/** Looks for a page at the most: others may take its last place first. After that there is no room, until a freed slot brings a signal. */
const LOOKS = 5;

/**
 * Takes a slot, or finds that it is taken already.
 *
 * @param readFirst reads the slots of the first page; undefined where nothing may be taken now.
 * @returns the slot's page; undefined where there is no room.
 */
export const takeOnPages = async <Owner>(
  store: SlotPages<Owner>,
  owner: Owner,
  slot: Slot,
  layout: Layout,
  readFirst: () => Promise<readonly Slot[] | undefined>,
): Promise<number | undefined> => {
  for (let look = 0; look < LOOKS; look += 1) {
    const first = await readFirst();
    if (!first) return undefined;
    // A page that is read a moment late costs a write that is refused. Only "no room" has to be certain; and "room", where slots of a
    // smaller cap are in the place of the first page: the conditions of the pages do not count those.
    const isSure = look > 0 || (layout.from > 0 && first.length > 0);
    const place = placeFor(slot, await pagesOf(store, owner, first, layout, isSure), layout);
    // So has "taken already": a batch that lent its slot and takes one again may still be shown with the one that it lent.
    if (place.is === 'held' && (isSure || place.page === 0)) return place.page;
    if (place.is === 'full' && isSure) return undefined;
    if (place.is !== 'free') continue;
    if (await store.takeSlot(owner, slot, capOfPage(place.page, layout), place.page)) return place.page;
  }
  return undefined;
};

/** A page as it was before one of its slots was given back. */
export interface Freed {
  readonly page: number;
  readonly before: readonly Slot[];
}

/** Gives a slot back. @param page where it should be @returns undefined where it was not taken */
export const freeOnPages = async <Owner>(
  store: Pages<Owner> & Pick<SlotPages<Owner>, 'freeSlot'>,
  owner: Owner,
  slot: Slot,
  page: number,
  cap: number,
): Promise<Freed | undefined> => {
  const before = await store.freeSlot(owner, slot, page);
  if (before) return { page, before };
  // Whoever formed the batch may not have known its page.
  const where = (await store.slotPagesEventually(owner, cap)).find(({ slots }) => slots.includes(slot));
  const found = where && (await store.freeSlot(owner, slot, where.page));
  return found && { page: where.page, before: found };
};
