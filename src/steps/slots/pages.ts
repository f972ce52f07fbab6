/**
 * Takes and frees a slot on one of several pages, and finds slots left by functions that died (K1,
 * src/domain/operations/slot-pages.ts).
 */

import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { Millis } from '../../domain/ids.ts';
import { capToShare, type Layout, MOST_SLOTS, placeFor, type SlotPage } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot, parseSlot, type Slot } from '../../domain/operations/slots.ts';
import type { SlotPages } from '../../ports/slot-pages.ts';
import type { BatchDeps } from '../deps.ts';

type Pages<Owner> = Pick<SlotPages<Owner>, 'slotPages' | 'slotPagesEventually'>;

/** The first page, as read with its owner's row, and how many further pages there may be. */
export interface FirstPage {
  readonly slots: readonly Slot[];
  /** The largest cap that may have put slots on further pages. 0 if there are no further pages. */
  readonly capToRead: number;
}

/**
 * An owner's pages, including the first one.
 * @param isSure whether to use strongly consistent reads, at twice the price.
 */
export const pagesOf = async <Owner>(
  store: Pages<Owner>,
  owner: Owner,
  { slots, capToRead }: FirstPage,
  isSure: boolean,
): Promise<readonly SlotPage[]> => {
  const own = { page: 0, slots };
  if (capToRead === 0) return [own];
  return [own, ...(await (isSure ? store.slotPages(owner, capToRead) : store.slotPagesEventually(owner, capToRead)))];
};

/**
 * How often a leader tries to find a page, since others may take the page's last slot first. After that it finds no
 * free slot, until a freed slot brings a signal.
 */
const LOOKS = 5;

/**
 * Takes a slot, or finds that it is taken already.
 *
 * @param readFirst resolves to undefined if no slot may be taken now.
 * @returns the page of the slot. Undefined if no slot is free.
 */
export const takeOnPages = async <Owner>(
  store: SlotPages<Owner>,
  owner: Owner,
  slot: Slot,
  layout: Layout,
  readFirst: () => Promise<FirstPage | undefined>,
): Promise<number | undefined> => {
  for (let look = 0; look < LOOKS; look += 1) {
    const first = await readFirst();
    if (!first) return undefined;
    const isSure = look > 0 || hasBeyond(first, layout);
    const pages = await pagesOf(store, owner, first, isSure);
    const place = placeFor(slot, pages, layout);
    // Only a strongly consistent read shows reliably that the slot is taken. A batch that lent its slot and takes one
    // again may still be shown with the earlier one.
    if (place.is === 'held' && (isSure || place.page === 0)) return place.page;
    if (place.is === 'full' && isSure) return undefined;
    // If an eventually consistent read shows a full page as free, the write is refused, which costs only that write.
    if (place.is !== 'free') continue;
    if (await store.takeSlot(owner, slot, place.most, place.page)) return place.page;
  }
  return undefined;
};

/**
 * K2. Whether a page may have more slots than its share: after a cap was lowered, or on the first page. Then all pages
 * need strongly consistent reads, since the condition of a write covers only its own page.
 */
const hasBeyond = ({ slots, capToRead }: FirstPage, layout: Layout): boolean =>
  capToRead !== layout.cap || capToShare([{ page: 0, slots }], layout) < layout.cap;

/**
 * Gives a slot back.
 * @param page where it should be. If it is not there, all other pages are searched.
 * @returns whether it was found.
 */
export const freeOnPages = async <Owner>(
  store: Pages<Owner> & Pick<SlotPages<Owner>, 'freeSlot'>,
  owner: Owner,
  slot: Slot,
  page: number,
): Promise<boolean> => {
  if (await store.freeSlot(owner, slot, page)) return true;
  // The function that formed the batch may not have had its page.
  const where = (await store.slotPagesEventually(owner, MOST_SLOTS)).find(({ slots }) => slots.includes(slot));
  return where !== undefined && (await store.freeSlot(owner, slot, where.page)) !== undefined;
};

/**
 * K5. Whether the batch of a taken slot has ended, or can never begin. Costs one read, or up to three if the batch is
 * not stored.
 *
 * @param by a batch that ended later than this still frees its slot itself.
 */
export const isSlotOver = async (
  { locks, batches }: BatchDeps,
  slot: Slot,
  by: Millis = Number.POSITIVE_INFINITY,
): Promise<boolean> => {
  const id = batchOfSlot(slot);
  const hasEnded = ({ status, finishedAt = 0 }: Batch): boolean => isFinished(status) && finishedAt <= by;
  const stored = await batches.get(id);
  if (stored) return hasEnded(stored);
  if (mayBecome(await locks.read(parseSlot(slot).target), slot, id)) return false;
  // Read the batch again after the lock. If it is still absent, only the function that the lock named could have formed
  // it, so it never will be.
  const formed = await batches.get(id);
  return formed === undefined || hasEnded(formed);
};

/**
 * Whether the batch of a slot may still be opened or formed. A leader whose lease has ended may open it too, as long as
 * the lock names that leader. Once this is false it stays false, so a caller may use the result late.
 */
const mayBecome = (lock: Lock, slot: Slot, id: Lock['openBatch']): boolean => {
  const { fence, round } = parseSlot(slot);
  return lock.openBatch === id || (lock.fence === fence && lock.round === round - 1 && lock.holder !== undefined);
};
