/** The tail of a batch that is over (H7): what it held goes to whoever waits. Each part is harmless when it is repeated. */
import { operationFor } from '../config/resolved.ts';
import type { Batch } from './batch.ts';
import type { Deps } from './deps.ts';
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
  // A batch that has its place on a page keeps it there when the cap is lowered to one that fits the lock, or is gone.
  const layout = pagesOfTarget(deps, batch.target) ?? pagesBefore(deps, batch);
  if (layout) await landOnPages(deps, batch, layout);
  else if (perTarget !== null) await land(deps, batch, perTarget);
  if (total === null) return;
  await freeRoom(deps, batch.operation, slotOfBatch(batch), batch.slotPage);
  // Whether or not it was full: a Target that found it so may have put its row only now.
  await wakeUnlessPaused(deps, batch.operation, await deps.operations.read(batch.operation));
};

const land = async (
  { locks, waiting, queues, machine }: TailDeps,
  { id, target }: Pick<Batch, 'id' | 'target'>,
  perTarget: number,
): Promise<void> => {
  const before = await locks.land(target, id);
  if (hadRoom(before, id, perTarget) || isHeld(before, machine.now())) return;
  const [first] = await waiting.first(target, 1);
  if (first) await queues.elect([{ target }]);
};

/** Whether the Target might begin another batch already: then somebody has seen to it. */
const hadRoom = ({ inFlight = [] }: Lock, id: Batch['id'], perTarget: number): boolean =>
  inFlight.includes(id) && inFlight.length < perTarget;
