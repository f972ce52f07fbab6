/**
 * The slots of a sealed batch: between its attempts, and when it is over.
 *
 * A batch keeps the slot of its operation until it is over, with one exception: while somebody pauses its Target, it lends the slot to
 * the other Targets, which would have to wait for as long as the pause lasts. It takes a slot again before it goes on. So every
 * attempt begins with a look at the slot, and a slot that was freed by mistake never lets more calls through than the cap.
 *
 * At its end (H7) what it held goes to whoever waits. Each part of that is harmless when it is repeated.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
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

/** From when a batch may lend its slot: a copy of its message that was received before the pause has begun its call by then. */
export const lendsFrom = ({ since }: Pause): Millis => since + CLOCK_SKEW;

/** In this time every batch of a paused Target has a look at which it may lend its slot: they look once a minute. */
const FIRST_LOOK: Millis = 2 * MINUTE;

/** What became of a batch's slot. */
export type SlotNow =
  | 'held'
  /** It has just taken one, or it had one on a page that its row does not name. */
  | 'taken'
  /** It waits for one, and its message comes when there is one. */
  | 'none';

/** Makes sure that a batch holds its slot before an attempt. */
export const ensureSlot = async (deps: BatchDeps, batch: Batch, state: OperationState): Promise<SlotNow> => {
  const { operation, target, slotPage } = batch;
  if (operationFor(deps.config, operation).concurrency.total === null) return 'held';
  const slot = slotOfBatch(batch);
  if (await holdsOperationSlot(deps, operation, state, slot, slotPage)) return 'held';
  const waiting: WaitingTarget = {
    target,
    at: batch.oldestAt,
    fence: parseSlot(slot).fence,
    batch: batch.id,
    by: deps.machine.token(),
  };
  const isThere =
    (await takeOperationSlot(deps, target, slot)) !== undefined ||
    ((await waitForOperationSlot(deps, waiting)) && (await takeOperationSlot(deps, target, slot)) !== undefined);
  if (!isThere) return 'none';
  // It may have waited before, by an earlier look, and must not use up the next slot that is freed.
  await deps.operations.dequeue(operation, waiting, 'any');
  return 'taken';
};

/**
 * Lends the slot of a batch whose Target is paused to whichever Target waits for one. Not while a job of it is under way, and not
 * while the pause is new ({@link lendsFrom}).
 *
 * @param isFirstLook of its message in a while: then the slot is looked for beyond its page, too. One that was taken again may be anywhere.
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
  // The client may repeat the request that frees it, after it lost the answer: nothing is left to free then.
  const isHeld = await holdsOperationSlot(deps, operation, state, slot, slotPage);
  if (!onAnyPage && !isHeld) return;
  if ((await freeOperationSlot(deps, operation, slot, slotPage)) || isHeld) await wakeUnlessPaused(deps, operation);
};

/** Gives back the places that a batch held in its Target and in its operation. */
export const releaseSlots = async (
  deps: BatchDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<void> => {
  const { total } = operationFor(deps.config, batch.operation).concurrency;
  const { target } = batch;
  // Whether or not it was full by the cap as it is now: a leader that knew another one may have found it so.
  const left = await releaseTargetSlot(deps, batch);
  const since = left && (await workSince(deps, target, left));
  if (left && since !== undefined && !(total !== null && (await getInLine(deps, target, left, since))))
    // Even a Target that was not blocked is woken: another function that handles the same message may have blocked it since, and crashed.
    await deps.queues.elect([{ kind: 'elect', target, wake: left.fence }]);
  if (total === null) return;
  await freeOperationSlot(deps, batch.operation, slotOfBatch(batch), batch.slotPage);
  // Whether or not it was full: a Target that found it so may have put its row only now.
  await wakeUnlessPaused(deps, batch.operation);
};

/**
 * The same for a batch that was finished before. If its operation was taken out of the configuration, and it holds nothing any more, its
 * message ends: otherwise it would come back for as long as the operation is not configured.
 */
export const releaseSlotsAgain = async (deps: BatchDeps, batch: Batch): Promise<void> => {
  if (!(await isNothingHeld(deps, batch))) await releaseSlots(deps, batch);
};

/** Since when the oldest waiting task of a Target without a leader waits; undefined if none waits. */
const workSince = async ({ waiting }: BatchDeps, target: Target, { blocked }: Lock): Promise<Millis | undefined> =>
  blocked ?? (await waiting.first(target, 1))[0]?.at;

/**
 * Where others wait for a slot of the operation, the Target waits behind them, as if its leader had found none (G5b). Its own leader
 * would be sooner than whoever is woken for the slot of the batch: two Targets that always have work would pass the slots of
 * their operation to each other, and nobody else had any.
 *
 * @returns whether the Target needs no signal any more
 */
const getInLine = async (
  { locks, operations, machine }: BatchDeps,
  target: Target,
  { blocked, fence, holder }: Lock,
  at: Millis,
): Promise<boolean> => {
  // A leader whose lease is over may go on with this fence. If a row named it, its signal would find a Target that needs none.
  if (holder !== undefined) return false;
  const operation = operationOf(target);
  const inLine = await operations.waiting(operation, 2);
  if (inLine.every((each) => each.target === target)) return false;
  if (blocked === undefined && !(await locks.blockUnled(target, { fence, at }))) return false;
  await operations.enqueue(operation, { target, at, fence, by: machine.token() });
  return true;
};

/** Whether the operation of a finished batch is not configured, and the batch has given back its slots. */
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
