/**
 * Messages of an operation that was taken out of the configuration. A message comes back, as a dead letter if need be, until the
 * operation is configured again: its work is stored, and perhaps no other message points to it. Most messages that are repeated or late
 * find that work finished. Such a message ends; otherwise it would come back for as long as the operation is not configured.
 */

import type { Batch } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import { operationNamed } from '../../domain/config/resolved.ts';
import { operationOf, type Target } from '../../domain/ids.ts';
import { slotOfBatch } from '../../domain/operations/slots.ts';
import type { Deps } from '../deps.ts';
import { holdsRoom } from './room.ts';

/** Whether a Target's operation is not configured, and nothing of the Target is left to be grouped. @param known its lock, if that was read */
export const isNothingLeft = async (
  { config, locks, waiting }: Pick<Deps, 'config' | 'locks' | 'waiting'>,
  target: Target,
  known?: Lock,
): Promise<boolean> => {
  if (operationNamed(config, operationOf(target))) return false;
  const { openBatch, blocked } = known ?? (await locks.read(target));
  return openBatch === undefined && blocked === undefined && (await waiting.first(target, 1)).length === 0;
};

/** Whether the operation of a finished batch is not configured, and the batch has given back its slots. */
export const isNothingHeld = async (
  { config, locks, operations }: Pick<Deps, 'config' | 'locks' | 'operations'>,
  batch: Pick<Batch, 'id' | 'target' | 'operation' | 'slotPage' | 'targetPage'>,
): Promise<boolean> => {
  const { id, target, operation, slotPage, targetPage } = batch;
  if (operationNamed(config, operation)) return false;
  const slot = slotOfBatch(batch);
  const [lock, state] = await Promise.all([locks.read(target), operations.read(operation)]);
  if (lock.inFlight?.includes(id) || (await holdsRoom({ operations }, operation, state, slot, slotPage))) return false;
  return !targetPage || !(await locks.slotPage(target, targetPage)).includes(slot);
};
