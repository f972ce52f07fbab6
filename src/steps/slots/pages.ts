/** A slot on one of several pages: it is taken, given back, or found left behind (src/domain/operations/slot-pages.ts). */

import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { Millis } from '../../domain/ids.ts';
import { capToShare, type Layout, MOST_SLOTS, placeFor, type SlotPage } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot, parseSlot, type Slot } from '../../domain/operations/slots.ts';
import type { SlotPages } from '../../ports/slot-pages.ts';
import type { BatchDeps } from '../deps.ts';

type Pages<Owner> = Pick<SlotPages<Owner>, 'slotPages' | 'slotPagesEventually'>;

/** The first page, as it was read with its owner, and how many others there may be. */
export interface FirstPage {
  readonly slots: readonly Slot[];
  /** The largest cap that may have put slots on further pages; 0 where there are no further pages. */
  readonly capToRead: number;
}

/** An owner's pages, the first one among them. @param isSure whether they have to be as they are now, for twice the price */
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

/** How often a leader looks for a page: others may take the page's last slot first. After that it finds no room, until a freed slot brings a signal. */
const LOOKS = 5;

/**
 * Takes a slot, or finds that it is taken already.
 *
 * @param readFirst undefined where nothing may be taken now.
 * @returns the slot's page; undefined where there is no room.
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
    // "Taken already" has to be certain: a batch that lent its slot and takes one again may still be shown with the one that it lent.
    if (place.is === 'held' && (isSure || place.page === 0)) return place.page;
    if (place.is === 'full' && isSure) return undefined;
    // A page that is full, but was read a moment late, only costs a write that is refused.
    if (place.is !== 'free') continue;
    if (await store.takeSlot(owner, slot, place.most, place.page)) return place.page;
  }
  return undefined;
};

/**
 * Whether pages may have more slots than their share: after a cap was lowered, or on the first page. Then all of them have to be read
 * as they are now, since a page is written with a condition on its own slots alone.
 */
const hasBeyond = ({ slots, capToRead }: FirstPage, layout: Layout): boolean =>
  capToRead !== layout.cap || capToShare([{ page: 0, slots }], layout) < layout.cap;

/** Gives a slot back. @param page where it should be: all others are searched if it is not there @returns whether it was found */
export const freeOnPages = async <Owner>(
  store: Pages<Owner> & Pick<SlotPages<Owner>, 'freeSlot'>,
  owner: Owner,
  slot: Slot,
  page: number,
): Promise<boolean> => {
  if (await store.freeSlot(owner, slot, page)) return true;
  // Whoever formed the batch may not have known its page.
  const where = (await store.slotPagesEventually(owner, MOST_SLOTS)).find(({ slots }) => slots.includes(slot));
  return where !== undefined && (await store.freeSlot(owner, slot, where.page)) !== undefined;
};

/**
 * Whether the batch of a slot that is taken has ended, or can never begin. One read; two or three if no batch is stored.
 *
 * @param by a batch that ended later than this still gives its slot back itself.
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
  // After the lock: a batch that is absent now has to be formed by whoever the lock named, or never will be.
  const formed = await batches.get(id);
  return formed === undefined || hasEnded(formed);
};

/**
 * Whether the batch of a slot may still be opened, or formed. A leader whose lease has ended may open it, too, as long as the lock
 * names that leader. Once this is false it stays false, so the answer may be used late.
 */
const mayBecome = (lock: Lock, slot: Slot, id: Lock['openBatch']): boolean => {
  const { fence, round } = parseSlot(slot);
  return lock.openBatch === id || (lock.fence === fence && lock.round === round - 1 && lock.holder !== undefined);
};
