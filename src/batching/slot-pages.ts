/**
 * Where slots are kept: on pages of ten. If one row had all slots, each write would cost more the more slots there are, since
 * DynamoDB charges for the whole row, and the row could not grow beyond 400 KB. The pages' caps add up to the cap, so that each
 * page can be written by itself, and a slot is on one page: taking or freeing it again changes nothing.
 *
 * The first page of an operation is its own row, where release 0.2 kept all slots. A Target whose cap fits one page keeps its
 * batches in flight in its lock. All other pages are rows of their own.
 */
import { digest } from './ids.ts';
import type { Slot } from './slots.ts';

/** Slots of a page at the most, as they are stored: a page of usual names is written for one unit. */
export const PAGE_SIZE = 10;

/**
 * Pages that share a partition: so many are read together, and no partition has to bear all of them. So of a cap that was lowered
 * some pages beyond it are read, and count.
 */
export const PAGES_TOGETHER = 16;

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

/** How many slots a page may have. */
export const capOfPage = (page: number, { cap, size, from }: Layout): number =>
  Math.max(0, Math.min(size, cap - (page - from) * size));

/** How many slots are taken. */
export const taken = (pages: readonly SlotPage[]): number => pages.reduce((sum, { slots }) => sum + slots.length, 0);

/** What a look at the pages says about a slot that is to be taken. */
export type Place =
  /** It is taken already. */
  | { readonly is: 'held'; readonly page: number }
  /** This page has room for it. */
  | { readonly is: 'free'; readonly page: number }
  | { readonly is: 'full' };

/**
 * The page for a slot. The order in which a slot prefers pages with room depends on the slot alone. So slots that are taken at the
 * same moment mostly go to different pages, and two functions that take one slot for the same leader choose the same page.
 */
export const placeFor = (slot: Slot, pages: readonly SlotPage[], layout: Layout): Place => {
  const { cap, size, from } = layout;
  const held = pages.find(({ slots }) => slots.includes(slot));
  if (held) return { is: 'held', page: held.page };
  // More than the cap may be taken while functions of release 0.2 run, or after the cap was lowered.
  if (taken(pages) >= cap) return { is: 'full' };
  const known = new Map(pages.map(({ page, slots }) => [page, slots.length]));
  const free = Array.from({ length: Math.ceil(cap / size) }, (_, n) => from + n).filter(
    (page) => (known.get(page) ?? 0) < capOfPage(page, layout),
  );
  const [first, ...others] = free.map((page) => ({ page, rank: digest(`${slot} ${page}`) }));
  if (!first) return { is: 'full' };
  const { page } = others.reduce((best, each) => (each.rank > best.rank ? each : best), first);
  return { is: 'free', page };
};
