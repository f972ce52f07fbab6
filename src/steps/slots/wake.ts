/**
 * Wake Targets that wait for room in their operation (section 5, *wake*): each freed slot wakes one. A Target is waked before
 * its row goes, so that it may be waked twice, but never forgotten.
 */

import type { OperationName } from '../../domain/ids.ts';
import type { WaitingTarget } from '../../domain/operations/slots.ts';
import type { Deps } from '../deps.ts';

type WakeDeps = Pick<Deps, 'operations' | 'queues' | 'machine'>;

/** Of the oldest ones any: those that wake at the same time should not all choose the same. */
const OLDEST = 10;

/**
 * W1 to W3. Wakes one. Another function may wake the same one for another slot at this moment, and take its row first. Its second signal
 * is not lost: the function that receives it finds that the Target has a new fence, or that the batch has its slot, and wakes the next one.
 *
 * @returns whether one waited.
 */
export const wake = async (deps: WakeDeps, operation: OperationName): Promise<boolean> => {
  const waiting = await deps.operations.waiting(operation, OLDEST);
  const any = waiting[Math.floor(deps.machine.random() * waiting.length)];
  if (any) await wakeThese(deps, operation, [any]);
  return any !== undefined;
};

/**
 * Wakes one Target or batch, unless the operation is paused: the function that ends the pause wakes as many as there is room for. The pause is
 * read here, after the slot was freed, so one of the two functions sees what the other one wrote.
 */
export const wakeUnlessPaused = async (deps: WakeDeps, operation: OperationName): Promise<void> => {
  const { paused } = await deps.operations.read(operation);
  if (!paused) await wake(deps, operation);
};

/** So many are woken together: one after the other would take longer than a function has. */
export const TOGETHER = 50;

/** Wakes these. */
export const wakeThese = async (
  { operations, queues }: WakeDeps,
  operation: OperationName,
  waiting: readonly WaitingTarget[],
): Promise<void> => {
  for (let from = 0; from < waiting.length; from += TOGETHER) {
    const some = waiting.slice(from, from + TOGETHER);
    await signal(queues, some);
    await Promise.all(some.map((each) => operations.dequeue(operation, each)));
  }
};

/** Targets are elected a leader, sealed batches are handled. */
const signal = async (queues: WakeDeps['queues'], waiting: readonly WaitingTarget[]): Promise<void> => {
  const targets = waiting.filter(({ batch }) => batch === undefined);
  const batches = waiting.flatMap(({ batch }) => batch ?? []);
  if (targets.length > 0) await queues.elect(targets.map(({ target, fence }) => ({ target, wake: fence })));
  await Promise.all(batches.map((batchId) => queues.batch({ batchId, woken: true }, 0)));
};
