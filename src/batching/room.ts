/** Room for a batch: a slot of its operation, taken before anything is sealed, so that what waits for it still merges (G5a). */
import { operationFor } from '../config/resolved.ts';
import type { Deps } from './deps.ts';
import { operationOf, type Target } from './ids.ts';
import { hasRoom, type Slot, type WaitingTarget } from './slots.ts';

type RoomDeps = Pick<Deps, 'config' | 'operations'>;

/** G5a. Takes the slot, or still has it. Without a cap there is room unless the operation is paused. */
export const takeRoom = async ({ config, operations }: RoomDeps, target: Target, slot: Slot): Promise<boolean> => {
  const operation = operationOf(target);
  const { concurrency } = operationFor(config, operation);
  if (concurrency.total !== null) return operations.takeSlot(operation, slot, concurrency.total);
  return hasRoom(await operations.read(operation), concurrency);
};

/**
 * G9a. Lets a Target wait for room, and looks once more: whoever gave a slot back in between saw nobody wait. (We write our row
 * and then read the operation's; he writes the operation's and then reads the rows: one of us sees the other.)
 *
 * @returns whether there is room now. Then the row goes once somebody leads, and not before: it may be another's, too.
 */
export const awaitRoom = async ({ config, operations }: RoomDeps, waiting: WaitingTarget): Promise<boolean> => {
  const operation = operationOf(waiting.target);
  await operations.enqueue(operation, waiting);
  return hasRoom(await operations.read(operation), operationFor(config, operation).concurrency);
};
