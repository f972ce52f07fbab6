/**
 * Takes and frees a slot on one of several pages, and finds slots that were left by functions that died (K1,
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

/** The first page, as read with its owner's row, and the cap that determines how many further pages there may be. */
export interface FirstPage {
  readonly slots: readonly Slot[];
  /** The largest cap that may have put slots on further pages. 0 if there are no further pages. */
  readonly capToRead: number;
}

/**
 * An owner's pages, including the first one.
 * @param isSure whether to use strongly consistent reads, which cost twice as much.
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
 * The largest number of tries to take a slot. A try fails if another leader takes the last slot of the chosen page
 * first. After the last try, the leader waits as if no slot were free, and is signalled when one is freed.
 */
const LOOKS = 5;

/**
 * Takes a slot, or finds that the batch holds it already.
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
    // Only a strongly consistent read shows reliably that the batch holds the slot. After a batch has lent its slot, an
    // eventually consistent read may still show that slot.
    if (place.is === 'held' && (isSure || place.page === 0)) return place.page;
    if (place.is === 'full' && isSure) return undefined;
    // An eventually consistent read may show a free slot on a full page. Then the write is refused, which only costs
    // that write.
    if (place.is !== 'free') continue;
    if (await store.takeSlot(owner, slot, place.most, place.page)) return place.page;
  }
  return undefined;
};

/**
 * K2. Whether a page may have more slots than its share of the cap: after the cap was lowered, or on the first page.
 * Then all pages need strongly consistent reads, because the condition of a write covers only the page that is written.
 */
const hasBeyond = ({ slots, capToRead }: FirstPage, layout: Layout): boolean =>
  capToRead !== layout.cap || capToShare([{ page: 0, slots }], layout) < layout.cap;

/**
 * Frees a slot.
 * @param page the page that should have the slot. If it does not, all other pages are searched.
 * @returns whether the slot was found.
 */
export const freeOnPages = async <Owner>(
  store: Pages<Owner> & Pick<SlotPages<Owner>, 'freeSlot'>,
  owner: Owner,
  slot: Slot,
  page: number,
): Promise<boolean> => {
  if (await store.freeSlot(owner, slot, page)) return true;
  // Search all pages, because the function that formed the batch may not have known the page.
  const where = (await store.slotPagesEventually(owner, MOST_SLOTS)).find(({ slots }) => slots.includes(slot));
  return where !== undefined && (await store.freeSlot(owner, slot, where.page)) !== undefined;
};

/**
 * K5. Whether the batch of a taken slot has ended, or can never begin. Costs one read, or up to three if the batch is
 * not stored.
 *
 * @param by the latest end of a batch that counts as ended. If a batch ended later, the function that ended it may
 *   still free the slot.
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
  // Read the batch again after the lock. If the batch is still not stored, it never will be, because only a function
  // that the lock names may form it.
  const formed = await batches.get(id);
  return formed === undefined || hasEnded(formed);
};

/**
 * Whether the batch of a slot may still be opened or formed. A leader whose lease has expired may still open the batch,
 * as long as the lock names that leader. After this was false for a slot, it stays false, so a caller may use the
 * result later.
 */
const mayBecome = (lock: Lock, slot: Slot, id: Lock['openBatch']): boolean => {
  const { fence, round } = parseSlot(slot);
  return lock.openBatch === id || (lock.fence === fence && lock.round === round - 1 && lock.holder !== undefined);
};
