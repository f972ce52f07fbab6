/**
 * Wake Targets that wait for room in their operation (section 5, *wake*): each freed slot wakes one. A Target is waked before
 * its row goes, so that it may be waked twice, but never forgotten.
 */
import type { Deps } from './deps.ts';
import type { OperationName } from './ids.ts';
import type { WaitingTarget } from './slots.ts';

type WakeDeps = Pick<Deps, 'operations' | 'queues' | 'machine'>;

/** Of the oldest ones any: those that wake at the same time should not all choose the same. */
const OLDEST = 10;

/** W1 to W3. Wakes one. @returns whether one waited. */
export const wake = async (deps: WakeDeps, operation: OperationName): Promise<boolean> => {
  for (;;) {
    const waiting = await deps.operations.waiting(operation, OLDEST);
    const any = waiting[Math.floor(deps.machine.random() * waiting.length)];
    if (!any) return false;
    if (await wakeThis(deps, operation, any)) return true;
  }
};

/** Wakes so many, the oldest first; those that others wake meanwhile count. */
export const wakeMany = async (deps: WakeDeps, operation: OperationName, count: number): Promise<void> => {
  if (count <= 0) return;
  const waiting = await deps.operations.waiting(operation, count);
  for (const each of waiting) await wakeThis(deps, operation, each);
};

const wakeThis = async ({ operations, queues }: WakeDeps, operation: OperationName, waiting: WaitingTarget) => {
  await queues.elect([{ target: waiting.target, wake: waiting.fence }]);
  return operations.dequeue(operation, waiting);
};
