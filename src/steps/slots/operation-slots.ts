/**
 * The slots of an operation. A leader takes a slot before it opens a batch. So tasks that arrive while the Target waits
 * for a slot still join the batch (G5a).
 */

import { operationFor } from '../../domain/config/resolved.ts';
import { type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import { largestCapOf, type SlotPage, taken } from '../../domain/operations/slot-pages.ts';
import { freeSlotsIn, type OperationState, type Slot, type WaitingTarget } from '../../domain/operations/slots.ts';
import type { LeadDeps } from '../deps.ts';
import { type FirstPage, freeOnPages, pagesOf, takeOnPages } from './pages.ts';

/**
 * The slots of an operation are on its own row, and on further pages if its cap, or an earlier one, does not fit on one
 * page (K1, K2).
 */
const firstPageOf = (state: OperationState, cap: number, { pageSize }: LeadDeps['operations']): FirstPage => {
  const largest = largestCapOf({ cap }, state);
  return { slots: state.inFlight, capToRead: largest > pageSize ? largest : 0 };
};

/**
 * The pages of an operation.
 * @param cap its `total`.
 * @param isSure whether to use strongly consistent reads, which cost twice as much.
 */
export const slotsOf = (
  { operations }: LeadDeps,
  operation: OperationName,
  state: OperationState,
  cap: number,
  isSure: boolean,
): Promise<readonly SlotPage[]> => pagesOf(operations, operation, firstPageOf(state, cap, operations), isSure);

/**
 * G5a. Takes a slot, or confirms that the batch holds it already. Without a cap, a slot is always free unless the
 * operation is paused.
 *
 * @returns the page of the slot. Undefined if no slot is free.
 */
export const takeOperationSlot = async (deps: LeadDeps, target: Target, slot: Slot): Promise<number | undefined> => {
  const { config, operations } = deps;
  const operation = operationOf(target);
  const { total } = operationFor(config, operation).concurrency;
  if (total === null) return (await operations.read(operation)).paused ? undefined : 0;
  const isOnePage = total <= operations.pageSize;
  // If all slots are on one page, one write is enough: its condition checks that the operation is not paused and that
  // no slots are on further pages.
  if (isOnePage && (await operations.takeOnlyPage(operation, slot, total))) return 0;
  const layout = { cap: total, size: operations.pageSize, from: 0 };
  return takeOnPages(operations, operation, slot, layout, async () => {
    const state = await operations.read(operation);
    if (state.paused) return undefined;
    // K2. Note the cap before a slot is taken, so that a leader with a smaller cap reads the further pages.
    if (!isOnePage && (state.largestCap ?? 0) < total) await operations.noteCap(operation, total);
    return firstPageOf(state, total, operations);
  });
};

/**
 * Frees a slot.
 * @param page the page of the slot, if known.
 * @returns whether the slot was found on any page.
 */
export const freeOperationSlot = async (
  { operations }: LeadDeps,
  operation: OperationName,
  slot: Slot,
  page = 0,
): Promise<boolean> => freeOnPages(operations, operation, slot, page);

/** Whether a batch holds its slot. @param page the page on which the slot was taken. */
export const holdsOperationSlot = async (
  { operations }: LeadDeps,
  operation: OperationName,
  state: OperationState,
  slot: Slot,
  page = 0,
): Promise<boolean> =>
  state.inFlight.includes(slot) || (page > 0 && (await operations.slotPage(operation, page)).includes(slot));

/** Reads an operation's row and its number of free slots, with strongly consistent reads. */
export const freeSlotsOf = async (
  deps: LeadDeps,
  operation: OperationName,
): Promise<{ readonly state: OperationState; readonly free: number }> => {
  const { config, operations } = deps;
  const { concurrency } = operationFor(config, operation);
  const state = await operations.read(operation);
  const { total } = concurrency;
  const isCounted = !state.paused && total !== null;
  const pages = isCounted ? await slotsOf(deps, operation, state, total, true) : [];
  return { state, free: freeSlotsIn(state, concurrency, taken(pages)) };
};

/**
 * G9a. Puts the Target's row into the slot queue, then checks for a free slot once more. A function that frees a slot
 * writes the page and then reads the queue. This function writes the row and then reads all pages with strongly
 * consistent reads. So at least one of the two functions sees the other's write.
 *
 * @returns whether a slot is free now. If a slot is free, the caller may delete the queue row only after the Target has
 *   a leader, because another function may rely on the row.
 */
export const waitForOperationSlot = async (deps: LeadDeps, waiting: WaitingTarget): Promise<boolean> => {
  const operation = operationOf(waiting.target);
  await deps.operations.enqueue(operation, waiting);
  return (await freeSlotsOf(deps, operation)).free > 0;
};
