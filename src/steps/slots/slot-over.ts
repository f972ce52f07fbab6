/** Slots that a crash or a lost message left taken. */
import { type Batch, isFinished } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import type { Millis } from '../../domain/ids.ts';
import { batchOfSlot, parseSlot, type Slot } from '../../domain/operations/slots.ts';
import type { Deps } from '../deps.ts';

/**
 * Whether the batch of a slot that is taken has ended, or can never begin. One read; two or three if no batch is stored.
 *
 * @param by a batch that ended later than this still gives its slot back itself.
 */
export const isSlotOver = async (
  { locks, batches }: Pick<Deps, 'locks' | 'batches'>,
  slot: Slot,
  by: Millis = Number.POSITIVE_INFINITY,
): Promise<boolean> => {
  const id = batchOfSlot(slot);
  const hasEnded = ({ status, finishedAt = 0 }: Batch): boolean => isFinished(status) && finishedAt <= by;
  const stored = await batches.get(id);
  if (stored) return hasEnded(stored);
  if (mayBecome(await locks.read(parseSlot(slot).target), slot, id)) return false;
  // After the lock: a batch that is absent now has to be formed by whoever the lock named, or never will be.
  const formed = await batches.get(id);
  return formed === undefined || hasEnded(formed);
};

/**
 * Whether the batch of a slot may still be opened, or formed. A leader whose lease has ended may open it, too, as long as the lock
 * names that leader. Once this is false it stays false, so the answer may be used late.
 */
const mayBecome = (lock: Lock, slot: Slot, id: Lock['openBatch']): boolean => {
  const { fence, round } = parseSlot(slot);
  return lock.openBatch === id || (lock.fence === fence && lock.round === round - 1 && lock.holder !== undefined);
};
