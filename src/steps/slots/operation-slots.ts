/** Room for a batch: a slot of its operation, taken before anything is sealed, so that what waits for it still merges (G5a). */

import { operationFor } from '../../domain/config/resolved.ts';
import { type OperationName, operationOf, type Target } from '../../domain/ids.ts';
import { largestCapOf, type SlotPage, taken } from '../../domain/operations/slot-pages.ts';
import { freeSlotsIn, type OperationState, type Slot, type WaitingTarget } from '../../domain/operations/slots.ts';
import type { LeadDeps } from '../deps.ts';
import { type FirstPage, freeOnPages, pagesOf, takeOnPages } from './pages.ts';

/** Where the slots of an operation are: on its own row, and on further pages where its cap, or an earlier one, does not fit that. */
const firstPageOf = (state: OperationState, cap: number, { pageSize }: LeadDeps['operations']): FirstPage => {
  const largest = largestCapOf({ cap }, state);
  return { slots: state.inFlight, capToRead: largest > pageSize ? largest : 0 };
};

/** The pages of an operation. @param cap its `total` @param isSure whether they have to be as they are now, for twice the price */
export const slotsOf = (
  { operations }: LeadDeps,
  operation: OperationName,
  state: OperationState,
  cap: number,
  isSure: boolean,
): Promise<readonly SlotPage[]> => pagesOf(operations, operation, firstPageOf(state, cap, operations), isSure);

/**
 * G5a. Takes the slot, or still has it. Without a cap there is room unless the operation is paused.
 *
 * @returns the page of the slot; undefined where there is no room.
 */
export const takeOperationSlot = async (deps: LeadDeps, target: Target, slot: Slot): Promise<number | undefined> => {
  const { config, operations } = deps;
  const operation = operationOf(target);
  const { total } = operationFor(config, operation).concurrency;
  if (total === null) return (await operations.read(operation)).paused ? undefined : 0;
  const isOnePage = total <= operations.pageSize;
  // One write: whether the operation is paused, or has slots on other pages, is in its condition.
  if (isOnePage && (await operations.takeOnlyPage(operation, slot, total))) return 0;
  const layout = { cap: total, size: operations.pageSize, from: 0 };
  return takeOnPages(operations, operation, slot, layout, async () => {
    const state = await operations.read(operation);
    if (state.paused) return undefined;
    // Before a slot is there: a leader with a smaller cap must see that there are further pages.
    if (!isOnePage && (state.largestCap ?? 0) < total) await operations.noteCap(operation, total);
    return firstPageOf(state, total, operations);
  });
};

/** Gives a slot back. @param page where it is, if that is known @returns whether it was there, on whichever page */
export const freeOperationSlot = async (
  { operations }: LeadDeps,
  operation: OperationName,
  slot: Slot,
  page = 0,
): Promise<boolean> => freeOnPages(operations, operation, slot, page);

/** Whether a batch holds its slot. @param page where it was taken */
export const holdsOperationSlot = async (
  { operations }: LeadDeps,
  operation: OperationName,
  state: OperationState,
  slot: Slot,
  page = 0,
): Promise<boolean> =>
  state.inFlight.includes(slot) || (page > 0 && (await operations.slotPage(operation, page)).includes(slot));

/** An operation's row, and how many more batches may begin, as the tables show it at this moment. */
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
 * G9a. Lets a Target wait for room, and looks once more. Another function may have given a slot back before it could see that the Target
 * waits. This function writes the waiting row, and then reads all pages consistently. The other one writes a page, and then reads the
 * waiting rows. So one of them sees what the other wrote.
 *
 * @returns whether there is room now. Then the row goes once somebody leads, and not before: it may be another's, too.
 */
export const waitForOperationSlot = async (deps: LeadDeps, waiting: WaitingTarget): Promise<boolean> => {
  const operation = operationOf(waiting.target);
  await deps.operations.enqueue(operation, waiting);
  return (await freeSlotsOf(deps, operation)).free > 0;
};
