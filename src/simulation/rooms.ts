/** What must hold of slots, pauses and of Targets that wait for room, after every write. */
import { isFinished } from '../batching/batch.ts';
import { batchIdOf, type Millis, type OperationName, operationOf, type Target } from '../batching/ids.ts';
import type { Lock } from '../batching/lock.ts';
import { type OperationState, parseSlot, slotOfBatch } from '../batching/slots.ts';
import { type Config, operationFor } from '../config/resolved.ts';
import type { Tables, Watcher } from './tables.ts';
import { demand } from './violation.ts';

/** How long, at the most, a Target waited for room that was there. Nobody did yet: 0. */
export interface Idle {
  longest: Millis;
}

type RoomWatcher = Required<Pick<Watcher, 'lock' | 'operation' | 'waitingTarget'>>;

/** @param idle is told how long room was there for somebody who waited for it. */
export const watchRooms = (tables: Tables, config: Config, now: () => Millis, idle: Idle): RoomWatcher => {
  const since = new Map<OperationName, Millis>();
  const look = (operation: OperationName): void => {
    const began = since.get(operation);
    if (someoneWaitsForRoomThatIsThere(tables, config, operation)) since.set(operation, began ?? now());
    else since.delete(operation);
    idle.longest = Math.max(idle.longest, began === undefined ? 0 : now() - began);
  };
  return {
    lock: (target, before, after) => {
      checkOpened(tables, config, target, before, after);
      look(operationOf(target));
    },
    operation: (operation, before, after) => {
      checkSlots(tables, before, after);
      look(operation);
    },
    waitingTarget: look,
  };
};

const checkOpened = (tables: Tables, config: Config, target: Target, before: Lock, { openBatch }: Lock): void => {
  if (openBatch === undefined || openBatch === before.openBatch) return;
  const operation = operationOf(target);
  demand(before.paused === undefined, 'nothing of a paused Target is opened', { target, before, openBatch });
  if (operationFor(config, operation).concurrency.total === null) return;
  const slots = tables.operations.get(operation)?.inFlight ?? [];
  demand(slots.includes(slotOfBatch({ id: openBatch, target })), 'a batch is opened by who has a slot for it', {
    target,
    openBatch,
    slots,
  });
};

const checkSlots = (tables: Tables, before: OperationState, after: OperationState): void => {
  const taken = after.inFlight.filter((slot) => !before.inFlight.includes(slot));
  demand(taken.length === 0 || before.paused === undefined, 'nobody takes a slot of a paused operation', { taken });
  for (const slot of before.inFlight.filter((each) => !after.inFlight.includes(each))) {
    const { target, fence, round } = parseSlot(slot);
    const id = batchIdOf(target, fence, round);
    const batch = tables.batches.get(id);
    const isOver = batch ? isFinished(batch.status) : tables.locks.get(target)?.openBatch !== id;
    demand(isOver, 'a slot is given back once its batch is over', { slot, batch });
  }
};

/** One of whom its operation knows, who would begin a batch if he were told of the room. */
const someoneWaitsForRoomThatIsThere = (tables: Tables, config: Config, operation: OperationName): boolean => {
  const { concurrency, circuit } = operationFor(config, operation);
  const { total, perTarget } = concurrency;
  const { inFlight = [], paused, failures = 0 } = tables.operations.get(operation) ?? {};
  // Half-open: one goes first, to see whether the downstream is there again.
  if (circuit && failures >= circuit.failures) return false;
  if (paused || (total !== null && inFlight.length >= total)) return false;
  return [...(tables.waitingTargets.get(operation)?.values() ?? [])].some(({ target, fence }) => {
    const lock = tables.locks.get(target);
    const isFull = perTarget !== null && (lock?.inFlight ?? []).length >= perTarget;
    return lock?.blocked !== undefined && lock.fence === fence && !lock.paused && !isFull;
  });
};
