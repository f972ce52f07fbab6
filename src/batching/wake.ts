/**
 * Wake Targets that wait for room in their operation (section 5, *wake*): each freed slot wakes one. A Target is waked before
 * its row goes, so that it may be waked twice, but never forgotten.
 */
import type { Deps } from './deps.ts';
import type { OperationName } from './ids.ts';
import type { ElectMessage } from './messages.ts';
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

/** One after the other, a thousand would take longer than a function has. */
const TOGETHER = 50;

/** Wakes so many, the oldest first; those that others wake meanwhile count. */
export const wakeMany = async (
  { operations, queues }: WakeDeps,
  operation: OperationName,
  count: number,
): Promise<void> => {
  if (count <= 0) return;
  const waiting = await operations.waiting(operation, count);
  for (let from = 0; from < waiting.length; from += TOGETHER) {
    const some = waiting.slice(from, from + TOGETHER);
    await queues.elect(some.map(wakeUp));
    await Promise.all(some.map((each) => operations.dequeue(operation, each)));
  }
};

const wakeThis = async ({ operations, queues }: WakeDeps, operation: OperationName, waiting: WaitingTarget) => {
  await queues.elect([wakeUp(waiting)]);
  return operations.dequeue(operation, waiting);
};

const wakeUp = ({ target, fence }: WaitingTarget): ElectMessage => ({ target, wake: fence });
