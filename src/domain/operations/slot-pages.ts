/**
 * Where slots are stored: on pages of ten. DynamoDB charges a write for the whole row. With all slots in one row, each
 * write would cost more the more slots there are, and the row could not exceed 400 KB. The pages' caps add up to the
 * cap, so each page can be written alone. A slot is normally on one page, and taking or freeing it again changes
 * nothing. If two deliveries of one guard put a slot on two pages, `freeLeftBehind` or the patrol later removes it from
 * the second page.
 *
 * The first page of an operation is the operation's row, where release 0.2 stored all slots. A Target whose cap fits
 * one page stores its batches in flight in its lock. All other pages are rows of their own.
 */
import { digest } from '../ids.ts';
import type { Slot } from './slots.ts';

/** Most slots of a page. A page with names of usual length costs one write unit. */
export const PAGE_SIZE = 10;

/** Pages that share a partition. One query reads them. With several partitions, the load is spread. */
export const PAGES_TOGETHER = 16;

/** The largest cap that a configuration may set. It also limits the number of pages. */
export const MOST_SLOTS = 1_000;

export interface SlotPage {
  readonly page: number;
  readonly slots: readonly Slot[];
}

/** Which pages the slots of an operation or Target are on. */
export interface Layout {
  /** Most slots on all pages together. */
  readonly cap: number;
  /** Most slots of a page. */
  readonly size: number;
  /**
   * The first page on which a slot may be taken. Slots on earlier pages count towards the cap, but no new slot is taken
   * there.
   */
  readonly from: number;
}

/**
 * The largest cap under which an owner's slots may have been put on pages.
 *
 * @param largestCap as stored in the owner's row
 */
export const largestCapOf = (
  { cap }: Pick<Layout, 'cap'>,
  { largestCap = 0 }: { readonly largestCap?: number },
): number => Math.max(cap, largestCap);

/** The cap of a page. */
export const capOfPage = (page: number, { cap, size, from }: Layout): number =>
  page < from ? 0 : Math.max(0, Math.min(size, cap - (page - from) * size));

/**
 * The cap to distribute over the pages. After the cap was lowered, some pages may have more slots than their share, and
 * these slots count until their batches end. The returned cap is then lower than the configured cap. If every page is
 * filled up to its share of the returned cap, the number of slots equals the configured cap.
 */
export const capToShare = (pages: readonly SlotPage[], layout: Layout): number => {
  /** By how many slots the cap would be exceeded if the pages were filled up to their share of `cap`. */
  const tooMany = (cap: number): number =>
    pages.reduce(
      (sum, { page, slots }) => sum + Math.max(0, slots.length - capOfPage(page, { ...layout, cap })),
      cap - layout.cap,
    );
  let { cap } = layout;
  // Lowering the cap by one reduces the excess by one slot at most, so the loop never lowers it too far.
  while (cap > 0 && tooMany(cap) > 0) cap = Math.max(0, cap - tooMany(cap));
  return cap;
};

/** How many slots are taken on these pages. */
export const taken = (pages: readonly SlotPage[]): number => pages.reduce((sum, { slots }) => sum + slots.length, 0);

/** Where a slot can be taken, according to the pages that were read. */
export type Place =
  /** The slot is taken already. */
  | { readonly is: 'held'; readonly page: number }
  /** The page has a free slot. The write must check that the page still has fewer slots than `most`. */
  | { readonly is: 'free'; readonly page: number; readonly most: number }
  | { readonly is: 'full' };

/**
 * Chooses the page for a slot. The order in which a slot prefers pages depends on the slot alone. So slots that are
 * taken at the same time usually go to different pages. Two functions that take the same slot choose the same page, if
 * they have read the same free pages.
 */
export const placeFor = (slot: Slot, pages: readonly SlotPage[], layout: Layout): Place => {
  const { size, from } = layout;
  const held = pages.find(({ slots }) => slots.includes(slot));
  if (held) return { is: 'held', page: held.page };
  const cap = capToShare(pages, layout);
  const mostOf = (page: number): number => capOfPage(page, { ...layout, cap });
  const known = new Map(pages.map(({ page, slots }) => [page, slots.length]));
  const free = Array.from({ length: Math.ceil(cap / size) }, (_, n) => from + n).filter(
    (page) => (known.get(page) ?? 0) < mostOf(page),
  );
  const [first, ...others] = free.map((page) => ({ page, rank: digest(`${slot} ${page}`) }));
  if (!first) return { is: 'full' };
  const { page } = others.reduce((best, each) => (each.rank > best.rank ? each : best), first);
  return { is: 'free', page, most: mostOf(page) };
};
