/**
 * The slot of a sealed batch between its attempts, where its operation has a cap.
 *
 * A batch keeps its slot until it is over, with one exception: while somebody pauses its Target, it lends the slot to the other
 * Targets, which would have to wait for as long as the pause lasts. It takes a slot again before it goes on. So every
 * attempt begins with a look at the slot, and a slot that was freed by mistake never lets more calls through than the cap.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import type { Millis } from '../../domain/ids.ts';
import {
  type OperationState,
  type Pause,
  parseSlot,
  slotOfBatch,
  type WaitingTarget,
} from '../../domain/operations/slots.ts';
import { CLOCK_SKEW, MINUTE } from '../../domain/timings.ts';
import type { Deps } from '../deps.ts';
import { awaitRoom, freeRoom, holdsRoom, takeRoom } from './room.ts';
import { wakeUnlessPaused } from './wake.ts';

/** From when a batch may lend its slot: a copy of its message that was received before the pause has begun its call by then. */
export const lendsFrom = ({ since }: Pause): Millis => since + CLOCK_SKEW;

/** In this time every batch of a paused Target has a look at which it may lend its slot: they look once a minute. */
const FIRST_LOOK: Millis = 2 * MINUTE;

type SlotDeps = Pick<Deps, 'config' | 'operations' | 'queues' | 'machine' | 'report'>;

/** What became of a batch's slot. */
export type SlotNow =
  | 'held'
  /** It has just taken one, or it had one on a page that its row does not name. */
  | 'taken'
  /** It waits for one, and its message comes when there is one. */
  | 'none';

/** Makes sure that a batch holds its slot before an attempt. */
export const ensureSlot = async (deps: SlotDeps, batch: Batch, state: OperationState): Promise<SlotNow> => {
  const { operation, target, slotPage } = batch;
  if (operationFor(deps.config, operation).concurrency.total === null) return 'held';
  const slot = slotOfBatch(batch);
  if (await holdsRoom(deps, operation, state, slot, slotPage)) return 'held';
  const waiting: WaitingTarget = {
    target,
    at: batch.oldestAt,
    fence: parseSlot(slot).fence,
    batch: batch.id,
    by: deps.machine.token(),
  };
  const isThere =
    (await takeRoom(deps, target, slot)) !== undefined ||
    ((await awaitRoom(deps, waiting)) && (await takeRoom(deps, target, slot)) !== undefined);
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
  deps: SlotDeps,
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
  const isHeld = await holdsRoom(deps, operation, state, slot, slotPage);
  if (!onAnyPage && !isHeld) return;
  if ((await freeRoom(deps, operation, slot, slotPage)) || isHeld) await wakeUnlessPaused(deps, operation);
};
