/**
 * Room in a Target whose cap (`concurrency.perTarget`) does not fit one page: its batches in flight are on pages of their own,
 * as those of an operation are, and its lock stays small. A smaller cap is kept in the lock itself, where every leader reads it. A
 * Target that was once on pages keeps to them under a smaller cap, too: batches in the lock alone would not count those on the pages.
 *
 * A leader that finds no room blocks its Target (G5b), as it does where its operation has none. The next batch that ends signals
 * it, since nothing in the lock says that the Target is full.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import { isHeld, type Lock } from '../../domain/batches/lock.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, operationOf, type Target } from '../../domain/ids.ts';
import { type Layout, largestCapOf, type SlotPage, taken } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot, parseSlot, type Slot, slotOfBatch } from '../../domain/operations/slots.ts';
import type { BatchDeps } from '../deps.ts';
import { type FirstPage, freeOnPages, isSlotOver, pagesOf, takeOnPages } from './pages.ts';

/** The layout of a Target's pages; undefined where its batches in flight are in its lock, or have no cap. */
export const pagesOfTarget = (
  { config, locks: { pageSize: size } }: BatchDeps,
  target: Target,
  { largestCap }: Pick<Lock, 'largestCap'>,
): Layout | undefined => {
  const { perTarget: cap } = operationFor(config, operationOf(target)).concurrency;
  return cap === null || (cap <= size && largestCap === undefined) ? undefined : { cap, size, from: 1 };
};

/** The lock itself, as the first page: batches that a smaller cap left in it count, too. */
const firstPageOf = (target: Target, lock: Lock, layout: Layout): FirstPage => ({
  slots: (lock.inFlight ?? []).map((id) => slotOfBatch({ id, target })),
  capToRead: largestCapOf(layout, lock),
});

/** The pages of a Target beyond its lock, of all caps that it had; none without a layout. Eventually consistent. */
export const furtherPagesOf = async (
  { locks }: BatchDeps,
  target: Target,
  lock: Lock,
  layout: Layout | undefined,
): Promise<readonly SlotPage[]> => (layout ? locks.slotPagesEventually(target, largestCapOf(layout, lock)) : []);

/** Takes a slot of the Target, or still has it. @returns its page; undefined where there is no room */
export const takeTargetSlot = async (
  deps: BatchDeps,
  target: Target,
  lock: Lock,
  slot: Slot,
  layout: Layout,
): Promise<number | undefined> => {
  const take = () => takeOnPages(deps.locks, target, slot, layout, async () => firstPageOf(target, lock, layout));
  const page = await take();
  if (page !== undefined) return page;
  const pages = await furtherPagesOf(deps, target, lock, layout);
  return (await freeLeftBehind(deps, target, pages)) ? take() : undefined;
};

/**
 * Frees slots of leaders that died before they opened their batch. Only the oldest slots are looked at, which bounds the reads:
 * such a slot never ends by itself, so it is among the oldest once the batches before it have ended.
 *
 * @returns whether one is free now.
 */
const freeLeftBehind = async (deps: BatchDeps, target: Target, pages: readonly SlotPage[]): Promise<boolean> => {
  const slots = pages.flatMap(({ page, slots: here }) => here.map((slot) => ({ slot, page })));
  const oldest = slots.toSorted((a, b) => parseSlot(a.slot).fence - parseSlot(b.slot).fence).slice(0, OLDEST);
  const areOver = await Promise.all(
    oldest.map(async ({ slot, page }) => {
      const isOver = await isSlotOver(deps, slot);
      // The client may repeat the request after it lost the answer: the slot is free then, though nothing was left to free.
      if (isOver) await deps.locks.freeSlot(target, slot, page);
      return isOver;
    }),
  );
  return areOver.includes(true);
};

/** So many slots are looked at when a leader finds its Target full. */
const OLDEST = 3;

/**
 * Whether no batch of the Target may begin, as the tables show it at this moment. If so, a batch that is under way signals when it
 * ends. Slots of leaders that died are freed first: if they were all of the slots, no batch would be left to signal.
 */
export const isTargetFull = async (deps: BatchDeps, target: Target, lock: Lock, layout: Layout): Promise<boolean> => {
  // The first is the lock itself, whose slots end with their batches.
  const pages = await pagesOf(deps.locks, target, firstPageOf(target, lock, layout), true);
  return taken(pages) >= layout.cap && !(await freeLeftBehind(deps, target, pages.slice(1)));
};

/** Batches of a Target that are under way, where its operation has a cap. Eventually consistent. */
export const inFlightOf = async (deps: BatchDeps, target: Target, lock: Lock): Promise<readonly BatchId[]> => {
  const { inFlight = [] } = lock;
  const pages = await furtherPagesOf(deps, target, lock, pagesOfTarget(deps, target, lock));
  return [...inFlight, ...pages.flatMap(({ slots }) => slots.map(batchOfSlot))];
};

/** Deletes the pages of a Target that have no slots. Once its lock is gone the patrol no longer finds them. */
export const dropEmptyPages = async (deps: BatchDeps, target: Target, lock: Lock): Promise<void> => {
  const largest = largestCapOf(pagesOfTarget(deps, target, lock) ?? { cap: 0 }, lock);
  if (largest === 0) return;
  const pages = await deps.locks.slotPagesEventually(target, largest);
  const empty = pages.flatMap(({ page, slots }) => (slots.length === 0 ? page : []));
  if (empty.length > 0) await deps.locks.dropPages(target, empty);
};

/**
 * Gives a slot of a Target back if its batch is over, and signals the Target if a later leader may have found it full by that slot.
 *
 * @param page undefined, or 0, where the slot is on no page
 */
export const freeTargetSlotIfOver = async (deps: BatchDeps, target: Target, slot: Slot, page = 0): Promise<void> => {
  if (page === 0 || !(await isSlotOver(deps, slot))) return;
  await deps.locks.freeSlot(target, slot, page);
  const lock = await deps.locks.read(target);
  // The guard of its fence looks again.
  if (lock.fence === parseSlot(slot).fence || lock.blocked === undefined || isHeld(lock, deps.machine.now())) return;
  await deps.queues.elect([{ kind: 'elect', target, wake: lock.fence }]);
};

/**
 * H7. Gives a batch's place in its Target back, wherever it was taken: the cap may have changed since.
 *
 * A page is written before the lock is read, and a leader that finds no room writes the lock before it reads the pages: one of them
 * sees the other. A leader that finds its Target full by the lock alone leaves no mark in the lock. So after a batch that was in the
 * lock, only waiting tasks show that the Target needs a signal. The same holds if the place is found nowhere: a function may have given it
 * back in the lock, and crashed before it sent the signal.
 *
 * @returns the lock of a Target that may need a signal; undefined if it has a leader, if the batch was on a page and the lock is not blocked,
 * or if the batch can have had no place
 */
export const releaseTargetSlot = async (
  deps: BatchDeps,
  batch: Pick<Batch, 'id' | 'target' | 'targetPage'>,
): Promise<Lock | undefined> => {
  const { config, locks, machine } = deps;
  const { id, target, targetPage } = batch;
  const { perTarget } = operationFor(config, operationOf(target)).concurrency;
  if (targetPage === undefined && perTarget === null) return undefined;
  const isInLock = targetPage === 0 || (targetPage === undefined && (perTarget ?? 0) <= locks.pageSize);
  if (isInLock) {
    const before = await locks.releaseSlot(target, id);
    const mayBeOnPages = before.largestCap !== undefined || (perTarget !== null && perTarget > locks.pageSize);
    if (before.inFlight?.includes(id) || !mayBeOnPages) return isHeld(before, machine.now()) ? undefined : before;
  }
  const freed = await freeOnPages(locks, target, slotOfBatch(batch), targetPage || 1);
  const seen = await locks.read(target);
  // Who leads, and whether it is blocked, counts as of when the place becomes free: a leader may find the Target full until then.
  const lock = seen.inFlight?.includes(id) ? await locks.releaseSlot(target, id) : seen;
  if (isHeld(lock, machine.now())) return undefined;
  return lock.blocked !== undefined || !freed ? lock : undefined;
};
