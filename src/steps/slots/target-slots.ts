/**
 * The places of a Target whose cap (`concurrency.perTarget`) does not fit on one page (K1). The Target's batches in
 * flight are then stored on separate pages, like the slots of an operation, so that its lock row stays small. If the
 * cap fits on one page, the batches are stored in the lock, which every leader reads. A Target that has pages keeps
 * using them after its cap was lowered, because a count in the lock alone would leave out the batches on the pages.
 *
 * A leader that finds no free place blocks its Target (G5b), as it does if the operation has no free slot. The lock
 * does not show that the pages are full, so the function that ends the Target's next batch signals the Target.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import { isHeld, type Lock } from '../../domain/batches/lock.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type BatchId, operationOf, type Target } from '../../domain/ids.ts';
import { type Layout, largestCapOf, type SlotPage, taken } from '../../domain/operations/slot-pages.ts';
import { batchOfSlot, parseSlot, type Slot, slotOfBatch } from '../../domain/operations/slots.ts';
import type { BatchDeps } from '../deps.ts';
import { type FirstPage, freeOnPages, isSlotOver, pagesOf, takeOnPages } from './pages.ts';

/**
 * The layout of a Target's pages. Undefined if the Target's batches in flight are stored in its lock or have no cap.
 */
export const pagesOfTarget = (
  { config, locks: { pageSize: size } }: BatchDeps,
  target: Target,
  { largestCap }: Pick<Lock, 'largestCap'>,
): Layout | undefined => {
  const { perTarget: cap } = operationFor(config, operationOf(target)).concurrency;
  return cap === null || (cap <= size && largestCap === undefined) ? undefined : { cap, size, from: 1 };
};

/** The lock itself is the first page. Batches that were stored in the lock under a smaller cap count too. */
const firstPageOf = (target: Target, lock: Lock, layout: Layout): FirstPage => ({
  slots: (lock.inFlight ?? []).map((id) => slotOfBatch({ id, target })),
  capToRead: largestCapOf(layout, lock),
});

/**
 * The pages of a Target beyond its lock, up to the largest cap that it had, from eventually consistent reads. Empty
 * without a layout.
 */
export const furtherPagesOf = async (
  { locks }: BatchDeps,
  target: Target,
  lock: Lock,
  layout: Layout | undefined,
): Promise<readonly SlotPage[]> => (layout ? locks.slotPagesEventually(target, largestCapOf(layout, lock)) : []);

/**
 * Takes a place in the Target, or confirms that the batch has one already.
 * @returns the page of the place, or undefined if no place is free.
 */
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
 * K5. Frees places of leaders that died before they opened their batch. Only the oldest places are checked, to limit
 * the number of reads. A place that a dead leader left stays taken, so it becomes one of the oldest when the earlier
 * batches have ended.
 *
 * @returns whether a place is free now.
 */
const freeLeftBehind = async (deps: BatchDeps, target: Target, pages: readonly SlotPage[]): Promise<boolean> => {
  const slots = pages.flatMap(({ page, slots: here }) => here.map((slot) => ({ slot, page })));
  const oldest = slots.toSorted((a, b) => parseSlot(a.slot).fence - parseSlot(b.slot).fence).slice(0, OLDEST);
  const areOver = await Promise.all(
    oldest.map(async ({ slot, page }) => {
      const isOver = await isSlotOver(deps, slot);
      // Ignore the result: if the response is lost, the client repeats the request. The repeat finds nothing to free,
      // although the place is free.
      if (isOver) await deps.locks.freeSlot(target, slot, page);
      return isOver;
    }),
  );
  return areOver.includes(true);
};

/** Number of places to check when a leader finds its Target full. */
const OLDEST = 3;

/**
 * Whether all places of the Target are taken, from strongly consistent reads. If they are, the function that ends a
 * batch under way signals the Target. Before the result is returned, places that dead leaders left are freed: if all
 * places were left by dead leaders, no batch would ever signal the Target.
 */
export const isTargetFull = async (deps: BatchDeps, target: Target, lock: Lock, layout: Layout): Promise<boolean> => {
  // The first page is the lock itself. Places in the lock are always freed when their batches end.
  const pages = await pagesOf(deps.locks, target, firstPageOf(target, lock, layout), true);
  return taken(pages) >= layout.cap && !(await freeLeftBehind(deps, target, pages.slice(1)));
};

/** The batches of a Target that are under way, from eventually consistent reads. Empty if its operation has no cap. */
export const inFlightOf = async (deps: BatchDeps, target: Target, lock: Lock): Promise<readonly BatchId[]> => {
  const { inFlight = [] } = lock;
  const pages = await furtherPagesOf(deps, target, lock, pagesOfTarget(deps, target, lock));
  return [...inFlight, ...pages.flatMap(({ slots }) => slots.map(batchOfSlot))];
};

/** Deletes the empty pages of a Target. After its lock row is gone, the patrol no longer finds them. */
export const dropEmptyPages = async (deps: BatchDeps, target: Target, lock: Lock): Promise<void> => {
  const largest = largestCapOf(pagesOfTarget(deps, target, lock) ?? { cap: 0 }, lock);
  if (largest === 0) return;
  const pages = await deps.locks.slotPagesEventually(target, largest);
  const empty = pages.flatMap(({ page, slots }) => (slots.length === 0 ? page : []));
  if (empty.length > 0) await deps.locks.dropPages(target, empty);
};

/**
 * Frees a place of a Target if the place's batch is over. Then this signals the Target if a later leader may have found
 * the Target full because of that place.
 *
 * @param page undefined or 0 if the place is on no page.
 */
export const freeTargetSlotIfOver = async (deps: BatchDeps, target: Target, slot: Slot, page = 0): Promise<void> => {
  if (page === 0 || !(await isSlotOver(deps, slot))) return;
  await deps.locks.freeSlot(target, slot, page);
  const lock = await deps.locks.read(target);
  // No signal is needed if the lock still has the fence of this slot, because the function that handles the guard of
  // this fence reads the lock again.
  if (lock.fence === parseSlot(slot).fence || lock.blocked === undefined || isHeld(lock, deps.machine.now())) return;
  await deps.queues.elect([{ kind: 'elect', target, wake: lock.fence }]);
};

/**
 * H7. Frees a batch's place in its Target, in the lock or on any page, because the cap may have changed since the place
 * was taken.
 *
 * This function writes the page before it reads the lock. A leader that finds no place writes the lock before it reads
 * the pages. So at least one of the two sees the other's write. A leader that finds its Target full from the lock alone
 * does not mark the lock. So if a batch had its place in the lock, only waiting tasks show that the Target needs a
 * signal. The same applies if no place is found, because a function may have freed the place in the lock and died
 * before it sent the signal.
 *
 * @returns the lock of a Target that may need a signal. Undefined if the Target has a leader, if the batch was on a
 *   page and the Target is not blocked, or if the batch cannot have had a place.
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
  // If the place is in the lock, use the lock's state of the moment at which the place became free: until that moment,
  // a leader may find the Target full and block it.
  const lock = seen.inFlight?.includes(id) ? await locks.releaseSlot(target, id) : seen;
  if (isHeld(lock, machine.now())) return undefined;
  return lock.blocked !== undefined || !freed ? lock : undefined;
};
