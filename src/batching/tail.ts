/** The tail of a batch that is over (H7): what it held goes to whoever waits. Each part is harmless when it is repeated. */
import { operationFor } from '../config/resolved.ts';
import type { Batch } from './batch.ts';
import type { Deps } from './deps.ts';
import { operationOf, type Target } from './ids.ts';
import { isHeld, type Lock } from './lock.ts';
import { freeRoom } from './room.ts';
import { slotOfBatch } from './slots.ts';
import { landOnPages, pagesBefore, pagesOfTarget } from './target-room.ts';
import { wakeUnlessPaused } from './wake.ts';

type TailDeps = Pick<Deps, 'config' | 'waiting' | 'locks' | 'operations' | 'queues' | 'machine'>;

/** Gives back the places that a batch held in its Target and in its operation. */
export const releaseSlots = async (
  deps: TailDeps,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<void> => {
  const { perTarget, total } = operationFor(deps.config, batch.operation).concurrency;
  const { target } = batch;
  // A batch that has its place on a page keeps it there when the cap is lowered to one that fits the lock, or is gone.
  const layout = pagesOfTarget(deps, target) ?? pagesBefore(deps, batch);
  const left = layout
    ? await landOnPages(deps, batch, layout)
    : perTarget !== null
      ? await land(deps, batch, perTarget)
      : undefined;
  if (left && !(total !== null && (await getInLine(deps, target, left)))) await signal(deps, target, left);
  if (total === null) return;
  await freeRoom(deps, batch.operation, slotOfBatch(batch), batch.slotPage);
  // Whether or not it was full: a Target that found it so may have put its row only now.
  await wakeUnlessPaused(deps, batch.operation, await deps.operations.read(batch.operation));
};

/** @returns the lock of a Target that was full, and that nobody leads */
const land = async (
  { locks, machine }: TailDeps,
  { id, target }: Pick<Batch, 'id' | 'target'>,
  perTarget: number,
): Promise<Lock | undefined> => {
  const before = await locks.land(target, id);
  return hadRoom(before, id, perTarget) || isHeld(before, machine.now()) ? undefined : before;
};

/** Whether the Target might begin another batch already: then somebody has seen to it. */
const hadRoom = ({ inFlight = [] }: Lock, id: Batch['id'], perTarget: number): boolean =>
  inFlight.includes(id) && inFlight.length < perTarget;

/** The Target may begin another batch, if it has work. */
const signal = async ({ waiting, queues }: TailDeps, target: Target, { blocked, fence }: Lock): Promise<void> => {
  if (blocked !== undefined) await queues.elect([{ target, wake: fence }]);
  else if ((await waiting.first(target, 1)).length > 0) await queues.elect([{ target }]);
};

/**
 * Where others wait for a slot of the operation, the Target waits behind them, as if its leader had found none (G5b). Its own leader
 * would be sooner than whoever is woken for the slot of the batch: two Targets that always have work would pass the slots of
 * their operation to each other, and nobody else had any.
 *
 * @returns whether the Target needs no signal any more
 */
const getInLine = async (
  { locks, waiting, operations }: TailDeps,
  target: Target,
  { blocked, fence }: Lock,
): Promise<boolean> => {
  const operation = operationOf(target);
  const inLine = await operations.waiting(operation, 2);
  if (inLine.every((each) => each.target === target)) return false;
  const at = blocked ?? (await waiting.first(target, 1))[0]?.at;
  if (at === undefined) return true;
  if (blocked === undefined && !(await locks.blockUnled(target, { fence, at }))) return false;
  await operations.enqueue(operation, { target, at, fence });
  return true;
};
