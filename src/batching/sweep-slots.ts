/**
 * Sweep the slots of operations: what a crash or a lost message left taken is given back, and who waits for room is waked.
 * A few reads a minute for each operation, and two for each slot that is taken.
 */
import type { Config } from '../config/resolved.ts';
import { isFinished } from './batch.ts';
import type { Deps } from './deps.ts';
import { batchIdOf, type OperationName } from './ids.ts';
import type { Lock } from './lock.ts';
import { wakeForRoom } from './resume.ts';
import { parseSlot, type Slot } from './slots.ts';
import { GRACE } from './timings.ts';

type SweepDeps = Pick<Deps, 'config' | 'locks' | 'batches' | 'operations' | 'queues' | 'machine' | 'report'>;

/** @throws AggregateError of what failed, once every operation has had its turn. */
export const sweepSlots = async (deps: SweepDeps, mayGoOn: () => boolean): Promise<void> => {
  const failures: unknown[] = [];
  for (const operation of operationsOf(deps.config)) {
    if (!mayGoOn()) break;
    try {
      await sweepOperation(deps, operation, mayGoOn);
    } catch (cause) {
      failures.push(cause);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `slots: ${failures.map(String).join('; ')}`);
};

const operationsOf = ({ operations }: Config): OperationName[] => Object.keys(operations) as OperationName[];

const sweepOperation = async (deps: SweepDeps, operation: OperationName, mayGoOn: () => boolean): Promise<void> => {
  const { inFlight, paused } = await deps.operations.read(operation);
  for (const slot of inFlight) if (mayGoOn()) await freeIfOver(deps, operation, slot);
  // A circuit whose message was lost would stay open for ever.
  if (paused?.until !== undefined && paused.until < deps.machine.now() - GRACE)
    await deps.queues.resume({ operation, resume: paused.id }, 0);
  else if (!paused && (await deps.operations.waiting(operation, 1)).length > 0) await wakeForRoom(deps, operation);
};

/** The lock is read before the batch: a batch that is absent then has to be formed by whoever the lock names, or never will be. */
const freeIfOver = async (deps: SweepDeps, operation: OperationName, slot: Slot): Promise<void> => {
  const { target, fence, round } = parseSlot(slot);
  const id = batchIdOf(target, fence, round);
  const lock = await deps.locks.read(target);
  const batch = await deps.batches.get(id);
  const isOver = batch ? isFinished(batch.status) : !mayBecome(lock, slot, id);
  if (!isOver) return;
  await deps.operations.freeSlot(operation, slot);
  deps.report({ event: 'slot-freed', operation, slot });
};

/**
 * Whether the batch of a slot may still be opened, or formed. Not only by a leader whose lease goes on: one who stood still may
 * open it as long as the lock names him. What cannot become any more never can, however long we stand still ourselves.
 */
const mayBecome = (lock: Lock, slot: Slot, id: Lock['openBatch']): boolean => {
  const { fence, round } = parseSlot(slot);
  return lock.openBatch === id || (lock.fence === fence && lock.round === round - 1 && lock.holder !== undefined);
};
