/**
 * The slots of a sealed batch, between its attempts and at its end.
 *
 * A batch keeps its operation's slot until it has finished, with one exception (K4). While its Target is paused by a
 * user, the batch frees its slot for other Targets, which would otherwise wait for the whole pause. The batch takes a
 * slot again before its next attempt. So each attempt first checks that the batch holds a slot. For a rare exception,
 * see the limits in docs/decisions/0039-a-failed-batch-frees-its-slot-before-it-is-postponed.md.
 *
 * At its end (H7) the batch frees its places and wakes a waiting Target. Each part is harmless when repeated.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import { historyOf, type Lock } from '../../domain/batches/lock.ts';
import { operationFor, operationNamed } from '../../domain/config/resolved.ts';
import { type Millis, operationOf, type Target } from '../../domain/ids.ts';
import {
  type OperationState,
  type Pause,
  parseSlot,
  slotOfBatch,
  type WaitingTarget,
} from '../../domain/operations/slots.ts';
import { CLOCK_SKEW, MINUTE } from '../../domain/timings.ts';
import type { BatchDeps } from '../deps.ts';
import { freeOperationSlot, holdsOperationSlot, takeOperationSlot, waitForOperationSlot } from './operation-slots.ts';
import { releaseTargetSlot } from './target-slots.ts';
import { wakeUnlessPaused } from './wake.ts';

/**
 * The time from which a paused batch may lend its slot. A handler that read the batch's state before the pause has
 * started its call by then. In the circuit's pause, no slot can be taken before its end, so half of it suffices.
 */
export const lendsFrom = ({ since, until = Number.POSITIVE_INFINITY }: Pause): Millis =>
  since + Math.min(CLOCK_SKEW, (until - since) / 2);

/**
 * Within this time after a batch may lend its slot, it is checked at least once, because the batch handler checks each
 * waiting batch once a minute.
 */
const FIRST_LOOK: Millis = 2 * MINUTE;

/** The state of a batch's slot. */
export type SlotNow =
  | 'held'
  /** The batch has just taken a slot, or holds one on a page that its row does not name. */
  | 'taken'
  /** The batch is in the slot queue. Its message is sent when a slot is free. */
  | 'none';

/** Makes sure that a batch holds its slot before an attempt. */
export const ensureSlot = async (deps: BatchDeps, batch: Batch, state: OperationState): Promise<SlotNow> => {
  const { operation, target, slotPage } = batch;
  if (operationFor(deps.config, operation).concurrency.total === null) return 'held';
  const slot = slotOfBatch(batch);
  if (await holdsOperationSlot(deps, operation, state, slot, slotPage)) return 'held';
  const isThere =
    (await takeOperationSlot(deps, target, slot)) !== undefined ||
    ((await waitForOperationSlot(deps, waitingBatch(deps, batch))) &&
      (await takeOperationSlot(deps, target, slot)) !== undefined);
  if (!isThere) return 'none';
  // An earlier check may have put the batch into the slot queue. Its row must not use up the next free slot.
  await leaveWaiting(deps, batch);
  return 'taken';
};

/** A batch's row in the slot queue. */
const waitingBatch = ({ machine }: BatchDeps, batch: Batch): WaitingTarget => ({
  target: batch.target,
  at: batch.oldestAt,
  fence: parseSlot(slotOfBatch(batch)).fence,
  batch: batch.id,
  by: machine.token(),
  ...(batch.suspicion && batch.lastAttempt ? { failedAt: batch.lastAttempt.endedAt } : {}),
});

/**
 * O4. Puts a batch that the circuit stopped into the slot queue. So it may test the downstream, and is woken when the
 * test of another one succeeds.
 */
export const joinWaiting = (deps: BatchDeps, batch: Batch, lock: Lock): Promise<void> =>
  deps.operations.enqueue(batch.operation, {
    ...historyOf(lock, parseSlot(slotOfBatch(batch)).round - 1),
    ...waitingBatch(deps, batch),
  });

/** Removes the batch's row from the slot queue, whenever it was stored. */
export const leaveWaiting = async (deps: BatchDeps, batch: Batch): Promise<void> => {
  await deps.operations.dequeue(batch.operation, waitingBatch(deps, batch), 'any');
};

/**
 * K4. Frees the slot of a batch whose Target is paused, and wakes a waiting Target. This does nothing while a job of
 * the batch is under way, or just after the pause began ({@link lendsFrom}).
 *
 * @param isFirstLook whether this is the first check by the batch's message in a while. The first check searches all
 *   pages, because a slot that was taken again may be on any page.
 */
export const lendSlot = async (
  deps: BatchDeps,
  batch: Batch,
  state: OperationState,
  pause: Pause,
  isFirstLook: boolean,
): Promise<void> => {
  const { operation, slotPage, pending } = batch;
  if (operationFor(deps.config, operation).concurrency.total === null) return;
  const [now, from] = [deps.machine.now(), lendsFrom(pause)];
  if (now < from || (pending && pending.until >= now)) return;
  const slot = slotOfBatch(batch);
  const onAnyPage = isFirstLook || now < from + FIRST_LOOK;
  // Read the slot before it is freed: if the response is lost, the client repeats the request, and the repeat finds no
  // slot to free.
  const isHeld = await holdsOperationSlot(deps, operation, state, slot, slotPage);
  if (!onAnyPage && !isHeld) return;
  if ((await freeOperationSlot(deps, operation, slot, slotPage)) || isHeld) await wakeUnlessPaused(deps, operation);
};

/**
 * Frees the operation's slot of a batch, and wakes a waiting Target: at the batch's end (H7), or because its attempt
 * failed and the circuit is open (K4). A Target is woken even if the operation was not full, because a Target that found
 * it full earlier may put its queue row only now.
 */
export const releaseOperationSlot = async (
  deps: BatchDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage'>,
): Promise<void> => {
  const { operation, slotPage } = batch;
  if (operationFor(deps.config, operation).concurrency.total === null) return;
  await freeOperationSlot(deps, operation, slotOfBatch(batch), slotPage);
  await wakeUnlessPaused(deps, operation);
};

/** H7. Frees the places that a batch held in its Target and in its operation, and wakes a waiting Target. */
export const releaseSlots = async (
  deps: BatchDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<void> => {
  const { total } = operationFor(deps.config, batch.operation).concurrency;
  const { target } = batch;
  // Free the place even if the Target is not full under the present cap, because a leader with another cap may have
  // found it full.
  const left = await releaseTargetSlot(deps, batch);
  const since = left && (await workSince(deps, target, left));
  if (left && since !== undefined && !(total !== null && (await joinSlotQueue(deps, target, left, since))))
    // Wake the Target even if it was not blocked: another function that handles the same message may have blocked it
    // meanwhile and died.
    await deps.queues.elect([{ kind: 'elect', target, wake: left.fence }]);
  await releaseOperationSlot(deps, batch);
};

/**
 * Frees the slots of a batch that finished earlier. Does nothing if the operation was removed from the configuration
 * and the batch holds no slot. Otherwise the batch's message would be delivered again for as long as the operation is
 * not configured.
 */
export const releaseSlotsAgain = async (deps: BatchDeps, batch: Batch): Promise<void> => {
  if (!(await isNothingHeld(deps, batch))) await releaseSlots(deps, batch);
};

/**
 * The registration time of the oldest waiting task of a Target without a leader. Undefined if the Target has no waiting
 * task.
 */
const workSince = async ({ waiting }: BatchDeps, target: Target, { blocked }: Lock): Promise<Millis | undefined> =>
  blocked ?? (await waiting.first(target, 1))[0]?.at;

/**
 * H7. Blocks the Target and puts it into the slot queue (G5b), if other Targets are in the queue. Otherwise the
 * Target's own leader would take the slot before the Target that is woken for it. Two Targets that always have tasks
 * would then use all slots of the operation in turns, and no other Target would get a slot.
 *
 * @returns whether the Target is in the slot queue now, so that it needs no signal.
 */
const joinSlotQueue = async (
  { locks, operations, machine }: BatchDeps,
  target: Target,
  lock: Lock,
  at: Millis,
): Promise<boolean> => {
  const { blocked, fence, holder } = lock;
  // A leader whose lease has expired may still continue with this fence. A queue row with this fence would then wake a
  // Target that needs no slot.
  if (holder !== undefined) return false;
  const operation = operationOf(target);
  const queued = await operations.waiting(operation, 2);
  if (queued.every((each) => each.target === target)) return false;
  if (blocked === undefined && !(await locks.blockUnled(target, { fence, at }))) return false;
  await operations.enqueue(operation, { ...historyOf(lock), target, at, fence, by: machine.token() });
  return true;
};

/** Whether the operation of a finished batch is not configured, and the batch holds no slot. */
const isNothingHeld = async (
  deps: BatchDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<boolean> => {
  const { config, locks, operations } = deps;
  const { id, target, operation, slotPage, targetPage } = batch;
  if (operationNamed(config, operation)) return false;
  const slot = slotOfBatch(batch);
  const [lock, state] = await Promise.all([locks.read(target), operations.read(operation)]);
  if (lock.inFlight?.includes(id) || (await holdsOperationSlot(deps, operation, state, slot, slotPage))) return false;
  return !targetPage || !(await locks.slotPage(target, targetPage)).includes(slot);
};
