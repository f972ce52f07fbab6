/** The tail of a batch that is over (H7): what it held goes to whoever waits. Each part is harmless when it is repeated. */

import type { Batch } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type Millis, operationOf, type Target } from '../../domain/ids.ts';
import { slotOfBatch } from '../../domain/operations/slots.ts';
import type { Deps } from '../deps.ts';
import { freeRoom } from './room.ts';
import { landBatch } from './target-room.ts';
import { wakeUnlessPaused } from './wake.ts';

type TailDeps = Pick<Deps, 'config' | 'waiting' | 'locks' | 'operations' | 'queues' | 'machine'>;

/** Gives back the places that a batch held in its Target and in its operation. */
export const releaseSlots = async (
  deps: TailDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<void> => {
  const { total } = operationFor(deps.config, batch.operation).concurrency;
  const { target } = batch;
  // Whether or not it was full by the cap as it is now: a leader that knew another one may have found it so.
  const left = await landBatch(deps, batch);
  const since = left && (await workSince(deps, target, left));
  if (left && since !== undefined && !(total !== null && (await getInLine(deps, target, left, since))))
    // Even a Target that was not blocked is woken: another function that handles the same message may have blocked it since, and crashed.
    await deps.queues.elect([{ target, wake: left.fence }]);
  if (total === null) return;
  await freeRoom(deps, batch.operation, slotOfBatch(batch), batch.slotPage);
  // Whether or not it was full: a Target that found it so may have put its row only now.
  await wakeUnlessPaused(deps, batch.operation);
};

/** Since when the oldest waiting task of a Target without a leader waits; undefined if none waits. */
const workSince = async (
  { waiting }: Pick<TailDeps, 'waiting'>,
  target: Target,
  { blocked }: Lock,
): Promise<Millis | undefined> => blocked ?? (await waiting.first(target, 1))[0]?.at;

/**
 * Where others wait for a slot of the operation, the Target waits behind them, as if its leader had found none (G5b). Its own leader
 * would be sooner than whoever is woken for the slot of the batch: two Targets that always have work would pass the slots of
 * their operation to each other, and nobody else had any.
 *
 * @returns whether the Target needs no signal any more
 */
const getInLine = async (
  { locks, operations, machine }: TailDeps,
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
