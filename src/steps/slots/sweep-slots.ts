/**
 * Sweeps the slots of operations (K5): frees slots that are still taken after a crash or a lost message, and wakes
 * waiting Targets. Each minute this costs one read for each taken slot (up to three reads if its batch is not stored),
 * and nine reads for each operation.
 *
 * A sweep begins at a random operation, and within it at a random slot (Q2). If there is not enough time for all slots,
 * the other slots are swept in one of the next minutes.
 */

import pLimit from 'p-limit';
import type { Config } from '../../domain/config/resolved.ts';
import type { OperationName } from '../../domain/ids.ts';
import { MOST_SLOTS } from '../../domain/operations/slot-pages.ts';
import type { OperationState, Slot } from '../../domain/operations/slots.ts';
import { GRACE } from '../../domain/timings.ts';
import type { BatchDeps } from '../deps.ts';
import { isSlotOver, pagesOf } from './pages.ts';
import { wakeForFreeSlot } from './wake.ts';

/**
 * Number of slots that are read at once. Reading a thousand slots one by one would take longer than the function's
 * timeout.
 */
const AT_ONCE = 20;

/** @throws AggregateError of all failures, after all operations are swept. */
export const sweepSlots = async (deps: BatchDeps, mayGoOn: () => boolean): Promise<void> => {
  const failures: unknown[] = [];
  let left = 0;
  for (const operation of inAnyOrder(deps, operationsOf(deps.config)))
    try {
      left += await sweepOperation(deps, operation, mayGoOn);
    } catch (cause) {
      failures.push(cause);
    }
  if (left > 0) deps.report({ event: 'sweep-cut', part: 'slots', left });
  if (failures.length > 0) throw new AggregateError(failures, `slots: ${failures.map(String).join('; ')}`);
};

const operationsOf = ({ operations }: Config): OperationName[] => Object.keys(operations) as OperationName[];

/** The same elements, rotated to a random start. */
const inAnyOrder = <T>({ machine }: BatchDeps, all: readonly T[]): readonly T[] => {
  const from = Math.floor(machine.random() * all.length);
  return [...all.slice(from), ...all.slice(0, from)];
};

/** @returns the number of slots for which there was no time. */
const sweepOperation = async (deps: BatchDeps, operation: OperationName, mayGoOn: () => boolean): Promise<number> => {
  const state = await deps.operations.read(operation);
  // Read all pages that any cap allows, because there may be slots beyond a cap that was lowered.
  const pages = await pagesOf(deps.operations, operation, { slots: state.inFlight, capToRead: MOST_SLOTS }, false);
  const slots = pages.flatMap(({ page, slots }) => slots.map((slot) => ({ page, slot })));
  const looked = await pLimit(AT_ONCE).map(inAnyOrder(deps, slots), async ({ page, slot }) => {
    if (!mayGoOn()) return false;
    await freeIfOver(deps, operation, slot, page);
    return true;
  });
  await wakeAfter(deps, operation, state);
  return looked.filter((isDone) => !isDone).length;
};

const wakeAfter = async (deps: BatchDeps, operation: OperationName, { paused }: OperationState): Promise<void> => {
  // If a pause is still stored after its end, the resume message of the circuit was lost. Without another resume
  // message, the circuit would stay open forever (O3).
  if (paused?.until !== undefined && paused.until < deps.machine.now() - GRACE)
    await deps.queues.resume({ kind: 'resume', operation, resume: paused.id }, 0);
  else if (!paused && (await deps.operations.waiting(operation, 1)).length > 0) await wakeForFreeSlot(deps, operation);
};

const freeIfOver = async (deps: BatchDeps, operation: OperationName, slot: Slot, page: number): Promise<void> => {
  if (!(await isSlotOver(deps, slot))) return;
  await deps.operations.freeSlot(operation, slot, page);
  deps.report({ event: 'slot-freed', operation, slot });
};
