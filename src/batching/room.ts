/** Room for a batch: a slot of its operation, taken before anything is sealed, so that what waits for it still merges (G5a). */
import { operationFor } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import { type OperationName, operationOf, type Target } from './ids.ts';
import { type Layout, taken } from './slot-pages.ts';
import { type OperationState, roomIn, type Slot, type WaitingTarget } from './slots.ts';
import { freeOnPages, pagesOf, takeOnPages } from './take-slot.ts';

type RoomDeps = Pick<Deps, 'config' | 'operations'>;

/** Where the slots of an operation are: on its own row, and on further pages where they are many. */
const layoutOf = ({ pageSize: size }: Pick<Deps['operations'], 'pageSize'>, cap: number): Layout => ({
  cap,
  size,
  from: 0,
});

/**
 * G5a. Takes the slot, or still has it. Without a cap there is room unless the operation is paused.
 *
 * @returns the page of the slot; undefined where there is no room.
 */
export const takeRoom = async (deps: RoomDeps, target: Target, slot: Slot): Promise<number | undefined> => {
  const { config, operations } = deps;
  const operation = operationOf(target);
  const { total } = operationFor(config, operation).concurrency;
  if (total === null) return (await operations.read(operation)).paused ? undefined : 0;
  // One write, as it has the pause in its condition.
  if (total <= operations.pageSize) return (await operations.takeSlot(operation, slot, total)) ? 0 : undefined;
  return takeOnPages(operations, operation, slot, layoutOf(operations, total), async () => {
    const { inFlight, paused } = await operations.read(operation);
    return paused ? undefined : inFlight;
  });
};

/** Gives a slot back. @param page where it is, if that is known @returns whether it was taken */
export const freeRoom = async (
  { config, operations }: RoomDeps,
  operation: OperationName,
  slot: Slot,
  page = 0,
): Promise<boolean> => {
  const { total } = operationFor(config, operation).concurrency;
  return (await freeOnPages(operations, operation, slot, page, total ?? 0)) !== undefined;
};

/** Whether a batch holds its slot. @param page where it was taken */
export const holdsRoom = async (
  { operations }: Pick<RoomDeps, 'operations'>,
  operation: OperationName,
  state: OperationState,
  slot: Slot,
  page = 0,
): Promise<boolean> =>
  state.inFlight.includes(slot) || (page > 0 && (await operations.slotPage(operation, page)).includes(slot));

/** An operation's row, and how many more batches may begin, as the tables show it at this moment. */
export const roomOf = async (
  { config, operations }: RoomDeps,
  operation: OperationName,
): Promise<{ readonly state: OperationState; readonly room: number }> => {
  const { concurrency } = operationFor(config, operation);
  const state = await operations.read(operation);
  const isCounted = !state.paused && concurrency.total !== null;
  const pages = isCounted
    ? await pagesOf(operations, operation, state.inFlight, { cap: concurrency.total, from: 0 }, true)
    : [];
  return { state, room: roomIn(state, concurrency, taken(pages)) };
};

/**
 * G9a. Lets a Target wait for room, and looks once more: whoever gave a slot back in between saw nobody wait. (We write our row
 * and then read the operation's; he writes the operation's and then reads the rows: one of us sees the other.)
 *
 * @returns whether there is room now. Then the row goes once somebody leads, and not before: it may be another's, too.
 */
export const awaitRoom = async (deps: RoomDeps, waiting: WaitingTarget): Promise<boolean> => {
  const operation = operationOf(waiting.target);
  await deps.operations.enqueue(operation, waiting);
  return (await roomOf(deps, operation)).room > 0;
};
