/** Where a waiting task is: what it waits for, in words and as a word. Two rows are read, so it is said of one task at a time. */
import type { Millis } from '../batching/ids.ts';
import { isHeld, type Lock } from '../batching/lock.ts';
import { waitEnd, waitsSince } from '../batching/policy.ts';
import { hasRoom, type OperationState, type Pause } from '../batching/slots.ts';
import type { Task } from '../batching/task.ts';
import { type Operation, operationNamed } from '../config/resolved.ts';
import type { ApiDeps } from './deps.ts';
import { iso } from './iso.ts';

/** What a task waits for. */
export interface WaitsFor {
  readonly reason:
    | 'operation-unknown'
    | 'operation-paused'
    | 'circuit-open'
    | 'target-paused'
    | 'room-in-target'
    | 'room-in-operation'
    | 'open-batch'
    | 'batch-to-fill'
    | 'leader';
  readonly text: string;
}

/** Undefined for a task that does not wait. */
export const waitsFor = async (deps: ApiDeps, task: Task): Promise<WaitsFor | undefined> => {
  if (task.state.status !== 'created') return undefined;
  const operation = operationNamed(deps.config, task.operation);
  if (!operation)
    return {
      reason: 'operation-unknown',
      text: `its operation "${task.operation}" is not configured any more: put it back until its tasks are done`,
    };
  const [lock, state] = await Promise.all([deps.locks.read(task.target), deps.operations.read(task.operation)]);
  return whatFor(task, operation, lock, state, deps.machine.now());
};

/** What stands in its way, the widest first: who resumes a Target of a paused operation sees nothing happen. */
export const whatFor = (
  task: Pick<Task, 'createdAt' | 'redrivenAt'>,
  { batch, concurrency }: Pick<Operation, 'batch' | 'concurrency'>,
  lock: Lock,
  state: OperationState,
  now: Millis,
): WaitsFor => {
  const { inFlight = [] } = lock;
  if (state.paused?.by === 'circuit')
    return { reason: 'circuit-open', text: `its operation's circuit is open ${pauseText(state.paused)}` };
  if (state.paused) return { reason: 'operation-paused', text: `its operation is paused ${pauseText(state.paused)}` };
  if (lock.paused) return { reason: 'target-paused', text: `its Target is paused ${pauseText(lock.paused)}` };
  if (lock.openBatch) return { reason: 'open-batch', text: `batch ${lock.openBatch} of its Target is being sealed` };
  const { perTarget, total } = concurrency;
  if (perTarget !== null && inFlight.length >= perTarget)
    return {
      reason: 'room-in-target',
      text: `room in its Target: ${inFlight.length} of ${perTarget} batches are under way (${inFlight.join(', ')})`,
    };
  if (lock.blocked !== undefined)
    return {
      reason: 'room-in-operation',
      // There may be room by now, and the message that says so on its way.
      text: `room in its operation${total === null || hasRoom(state, concurrency) ? '' : `: ${state.inFlight.length} of ${total} batches are under way`}`,
    };
  if (isHeld(lock, now))
    return {
      reason: 'batch-to-fill',
      text: `its batch to fill, or for ${iso(waitEnd(waitsSince(task), batch))}: nobody waits longer where there is room`,
    };
  return { reason: 'leader', text: 'somebody to lead its Target: if that lasts for minutes, ask groupage doctor' };
};

/** For how long, by whom and why. */
const pauseText = ({ since, until, reason }: Pause): string =>
  [
    `since ${iso(since)}`,
    ...(until === undefined ? [] : [`until ${iso(until)}`]),
    ...(reason === undefined ? [] : [`(${reason})`]),
  ].join(' ');
