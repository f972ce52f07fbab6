/** Where an unfinished task is: what it waits for, in words and as a word. Two rows are read, so it is said of one task at a time. */
import { type Batch, isFinished, isPending } from '../../domain/batches/batch.ts';
import { isHeld, type Lock } from '../../domain/batches/lock.ts';
import { waitEnd, waitsSince } from '../../domain/batches/policy.ts';
import { type Operation, operationNamed } from '../../domain/config/resolved.ts';
import type { Millis } from '../../domain/ids.ts';
import { taken } from '../../domain/operations/slot-pages.ts';
import { type OperationState, type Pause, pauseNow, slotOfBatch } from '../../domain/operations/slots.ts';
import { hasEnded, type Task } from '../../domain/tasks/task.ts';
import { slotsOf } from '../../steps/slots/operation-slots.ts';
import { inFlightOf } from '../../steps/slots/target-slots.ts';
import { inBrief } from '../../util/problems.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { iso } from '../shared/iso.ts';

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
    | 'leader'
    | 'job';
  readonly text: string;
}

/**
 * Undefined for a task that has ended, or whose batch goes its way: it is called about, or when it will be is known.
 *
 * @param batch the one that has it, if one has.
 */
export const waitsFor = async (deps: ApiDeps, task: Task, batch?: Batch): Promise<WaitsFor | undefined> => {
  if (hasEnded(task.state)) return undefined;
  if (task.state.status === 'batched' && (batch === undefined || batch.startedBy !== undefined)) return undefined;
  const operation = operationNamed(deps.config, task.operation);
  if (!operation)
    return {
      reason: 'operation-unknown',
      text: `its operation "${task.operation}" is not configured any more: put it back until its tasks are done`,
    };
  const [lock, state] = await Promise.all([deps.locks.read(task.target), deps.operations.read(task.operation)]);
  const now = deps.machine.now();
  if (batch) return whatInBatch(task, batch, lock, state, now) ?? (await slotFor(deps, batch, operation, state));
  const { total } = operation.concurrency;
  const isCounted = lock.blocked !== undefined && total !== null;
  const pages = isCounted ? await slotsOf(deps, task.operation, state, total, false) : [];
  const inFlight = await inFlightOf(deps, task.target, lock);
  return whatFor(task, operation, { ...lock, inFlight }, { ...state, taken: taken(pages) }, now);
};

/** What holds up a batch that nobody runs. Its job, if it has one, reports during a pause too. */
const whatInBatch = (
  { id }: Pick<Task, 'id'>,
  batch: Batch,
  lock: Lock,
  state: OperationState,
  now: Millis,
): WaitsFor | undefined => {
  if (isPending(batch) && batch.pending?.ids.includes(id))
    return {
      reason: 'job',
      text: `its job to report: what it has not said by ${iso(batch.pending.until)} is called about again`,
    };
  return whosePause(pauseNow(state, now), pauseNow(lock, now));
};

/** A batch without a slot: it lent its own while its Target was paused. */
const slotFor = async (
  deps: ApiDeps,
  batch: Batch,
  { operation, concurrency: { total } }: Operation,
  state: OperationState,
): Promise<WaitsFor | undefined> => {
  if (total === null || isFinished(batch.status)) return undefined;
  const pages = await slotsOf(deps, operation, state, total, false);
  if (pages.some(({ slots }) => slots.includes(slotOfBatch(batch)))) return undefined;
  return {
    reason: 'room-in-operation',
    text: `room in its operation: its batch lent its slot while its Target was paused, and ${taken(pages)} of ${total} slots are taken`,
  };
};

/** The widest first: who resumes a Target of a paused operation sees nothing happen. */
const whosePause = (ofOperation: Pause | undefined, ofTarget: Pause | undefined): WaitsFor | undefined => {
  if (ofOperation?.by === 'circuit')
    return { reason: 'circuit-open', text: `its operation's circuit is open ${pauseText(ofOperation)}` };
  if (ofOperation) return { reason: 'operation-paused', text: `its operation is paused ${pauseText(ofOperation)}` };
  if (ofTarget) return { reason: 'target-paused', text: `its Target is paused ${pauseText(ofTarget)}` };
  return undefined;
};

/** What stands in its way, the widest first. */
export const whatFor = (
  task: Pick<Task, 'createdAt' | 'redrivenAt'>,
  { batch, concurrency }: Pick<Operation, 'batch' | 'concurrency'>,
  lock: Lock,
  state: OperationState & { readonly taken: number },
  now: Millis,
): WaitsFor => {
  const { inFlight = [] } = lock;
  const pause = whosePause(state.paused, lock.paused);
  if (pause) return pause;
  if (lock.openBatch) return { reason: 'open-batch', text: `batch ${lock.openBatch} of its Target is being sealed` };
  const { perTarget, total } = concurrency;
  if (perTarget !== null && inFlight.length >= perTarget)
    return {
      reason: 'room-in-target',
      text: `room in its Target: ${inFlight.length} of ${perTarget} batches are under way (${inBrief(inFlight)})`,
    };
  if (lock.blocked !== undefined)
    return {
      reason: 'room-in-operation',
      // There may be room by now, and the message that says so on its way.
      text: `room in its operation${total === null || state.taken < total ? '' : `: ${state.taken} of ${total} batches are under way`}`,
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
