/**
 * Where slots are kept: on pages of ten. If one row had all slots, each write would cost more the more slots there are, since
 * DynamoDB charges for the whole row, and the row could not grow beyond 400 KB. The pages' caps add up to the cap, so that each
 * page can be written by itself. A slot is normally on one page, so taking or freeing it again changes nothing. If two deliveries of one
 * guard put it on two pages, the second place is freed later (`freeLeftBehind`, the patrol).
 *
 * The first page of an operation is its own row, where release 0.2 kept all slots. A Target whose cap fits one page keeps its
 * batches in flight in its lock. All other pages are rows of their own.
 */
import { digest } from '../ids.ts';
import type { Slot } from './slots.ts';

/** Slots of a page at the most, as they are stored: a page of usual names is written for one unit. */
export const PAGE_SIZE = 10;

/** Pages that share a partition: so many are read together, and no partition has to bear all of them. */
export const PAGES_TOGETHER = 16;

/** The largest cap that a configuration may ask for: its pages are all pages that there may be. */
export const MOST_SLOTS = 1_000;

export interface SlotPage {
  readonly page: number;
  readonly slots: readonly Slot[];
}

/** Which pages an owner's slots are on. */
export interface Layout {
  /** Slots in all at the most. */
  readonly cap: number;
  /** Slots of a page at the most. */
  readonly size: number;
  /** The first page on which a slot may be taken: pages before it are only counted. */
  readonly from: number;
}

/** The largest cap that may have put slots of an owner on pages. @param largestCap as the owner's row notes it */
export const largestCapOf = (
  { cap }: Pick<Layout, 'cap'>,
  { largestCap = 0 }: { readonly largestCap?: number },
): number => Math.max(cap, largestCap);

/** How many slots a page may have. */
export const capOfPage = (page: number, { cap, size, from }: Layout): number =>
  page < from ? 0 : Math.max(0, Math.min(size, cap - (page - from) * size));

/**
 * The cap that the pages may share out. It is smaller than the cap where pages have more slots than they may, after the cap was lowered:
 * such slots count until their batches end. If every page is filled up to its share of this cap, as many slots are taken as the cap allows.
 */
export const capToShare = (pages: readonly SlotPage[], layout: Layout): number => {
  /** How many slots too many there would be, if pages were filled up to their share of `cap`. */
  const tooMany = (cap: number): number =>
    pages.reduce(
      (sum, { page, slots }) => sum + Math.max(0, slots.length - capOfPage(page, { ...layout, cap })),
      cap - layout.cap,
    );
  let { cap } = layout;
  // A cap that is smaller by one leaves one slot less too many, at the most: so this never goes too far.
  while (cap > 0 && tooMany(cap) > 0) cap = Math.max(0, cap - tooMany(cap));
  return cap;
};

/** How many slots are taken. */
export const taken = (pages: readonly SlotPage[]): number => pages.reduce((sum, { slots }) => sum + slots.length, 0);

/** What a look at the pages says about a slot that is to be taken. */
export type Place =
  /** It is taken already. */
  | { readonly is: 'held'; readonly page: number }
  /** This page has room for it, if it has fewer slots than `most` when the slot is taken. */
  | { readonly is: 'free'; readonly page: number; readonly most: number }
  | { readonly is: 'full' };

/**
 * The page for a slot. The order in which a slot prefers pages with room depends on the slot alone. So slots that are taken at the
 * same moment mostly go to different pages, and two functions that take one slot choose the same page if they see the same pages as free.
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
