/**
 * Explains why an unfinished task is waiting, as a code and as text. This takes two or more reads per task, so lists leave it
 * out.
 */
import { type Batch, isFinished, isPending } from '../../domain/batches/batch.ts';
import { isHeld, type Lock } from '../../domain/batches/lock.ts';
import { due, waitEnd, waitsSince } from '../../domain/batches/policy.ts';
import { type Operation, operationNamed } from '../../domain/config/resolved.ts';
import type { BatchId, LimitName, Millis, Target } from '../../domain/ids.ts';
import type { BucketId } from '../../domain/limits/bucket-id.ts';
import { isLimited, labelOf } from '../../domain/limits/limits.ts';
import { taken } from '../../domain/operations/slot-pages.ts';
import { type OperationState, type Pause, pauseNow, slotOfBatch } from '../../domain/operations/slots.ts';
import { hasEnded, type Task } from '../../domain/tasks/task.ts';
import { SECOND } from '../../domain/timings.ts';
import { limitWaitOf, plannedCallOf } from '../../steps/limits/wait.ts';
import { slotsOf } from '../../steps/slots/operation-slots.ts';
import { inFlightOf } from '../../steps/slots/target-slots.ts';
import { inBrief } from '../../util/problems.ts';
import type { ApiDeps } from '../shared/deps.ts';
import { iso } from '../shared/iso.ts';

/** Why a task is waiting. The text completes "waits for …". */
export interface WaitsFor {
  readonly reason:
    | 'operation-unknown'
    | 'operation-paused'
    | 'circuit-open'
    | 'target-paused'
    | 'room-in-target'
    | 'room-in-operation'
    | 'limit'
    | 'open-batch'
    | 'batch-to-fill'
    | 'leader'
    | 'job';
  readonly text: string;
  /** The limit, if `reason` is `limit`. */
  readonly limit?: LimitName;
}

/**
 * Undefined if the task has ended, or if its batch is running or has a known time for its next attempt.
 *
 * @param batch the task's batch, if any.
 */
export const waitsFor = async (deps: ApiDeps, task: Task, batch?: Batch): Promise<WaitsFor | undefined> => {
  if (hasEnded(task.state)) return undefined;
  if (task.state.status === 'batched' && (batch === undefined || batch.startedBy !== undefined)) return undefined;
  const operation = operationNamed(deps.config, task.operation);
  if (!operation)
    return {
      reason: 'operation-unknown',
      text: `its operation "${task.operation}", which is no longer configured: configure it again until its tasks are done`,
    };
  const [lock, state] = await Promise.all([deps.locks.read(task.target), deps.operations.read(task.operation)]);
  const now = deps.machine.now();
  if (batch)
    return (
      whatInBatch(task, batch, lock, state, now) ??
      (await slotFor(deps, batch, operation, state)) ??
      (await underLimit(deps, operation, task.target, batch.id))
    );
  const { total } = operation.concurrency;
  const isCounted = lock.blocked !== undefined && total !== null;
  const pages = isCounted ? await slotsOf(deps, task.operation, state, total, false) : [];
  const inFlight = await inFlightOf(deps, task.target, lock);
  const reason = whatFor(task, operation, { ...lock, inFlight }, { ...state, taken: taken(pages) }, now);
  if (reason.reason !== 'batch-to-fill') return reason;
  if (!isLimited(operation)) return reason;
  return (
    (await underLimit(deps, operation, task.target)) ??
    ((await isDue(deps, operation, lock, task.target)) ? await planned(deps, operation, task.target) : undefined) ??
    reason
  );
};

/** Whether a Target's batch would be sealed now, if it had a moment for its call. */
const isDue = async (
  { waiting, machine }: ApiDeps,
  { batch }: Operation,
  { flushedAt }: Lock,
  target: Target,
): Promise<boolean> => {
  const rows = await waiting.first(target, batch.maxSize);
  // A batch that is due for less than a second may be about to be sealed.
  return rows.length > 0 && due(rows, batch, machine.now() - SECOND, flushedAt).do === 'seal';
};

/** A Target whose batch is due, and that is in no queue, has been promised a start. */
const planned = async (deps: ApiDeps, operation: Operation, target: Target): Promise<WaitsFor | undefined> => {
  const found = await plannedCallOf(deps, operation, target);
  if (!found) return undefined;
  const { limit, bucket, until } = found;
  return {
    reason: 'limit',
    limit,
    text: `the limit ${limit}${keyText(deps, limit, bucket)}: the start of its call is reserved, in at most ${inWords(until - deps.buckets.now())}`,
  };
};

const keyText = ({ config }: ApiDeps, limit: LimitName, bucket: BucketId): string => {
  const { key } = labelOf(config, limit, bucket);
  return key === undefined ? '' : ` (${key})`;
};

/** A Target that waits under a limit has a leader. A batch waits there before an attempt that is not the first. */
const underLimit = async (
  deps: ApiDeps,
  operation: Operation,
  target: Target,
  batch?: BatchId,
): Promise<WaitsFor | undefined> => {
  const wait = await limitWaitOf(deps, operation, target, batch);
  if (!wait) return undefined;
  const after =
    wait.before === 0
      ? 'no other call is before it'
      : `after ${wait.before} other ${wait.before === 1 ? 'call' : 'calls'}`;
  const start =
    wait.at === undefined
      ? 'starts when calls in progress end'
      : `may start in about ${inWords(wait.at - deps.buckets.now())}`;
  return {
    reason: 'limit',
    limit: wait.limit,
    text: `the limit ${wait.limit}${keyText(deps, wait.limit, wait.bucket)}: its next call ${start}, ${after}`,
  };
};

/**
 * Why a batch that is not running waits. A pending job is checked before a pause, because the job can report during a
 * pause.
 */
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
      text: `the report of its job: without one by ${iso(batch.pending.until)}, the downstream is called again`,
    };
  return whosePause(pauseNow(state, now), pauseNow(lock, now));
};

/** Why a batch without a slot waits: it gave up its slot while its Target was paused, and now waits for a free slot. */
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
    text: `a free slot of its operation: its batch gave up its slot while its Target was paused, and ${taken(pages)} of ${total} slots are taken`,
  };
};

/** The pause of the operation comes first, because resuming a Target has no effect while its operation is paused. */
const whosePause = (ofOperation: Pause | undefined, ofTarget: Pause | undefined): WaitsFor | undefined => {
  if (ofOperation?.by === 'circuit')
    return { reason: 'circuit-open', text: `its operation, whose circuit is open ${pauseText(ofOperation)}` };
  if (ofOperation) return { reason: 'operation-paused', text: `its operation, paused ${pauseText(ofOperation)}` };
  if (ofTarget) return { reason: 'target-paused', text: `its Target, paused ${pauseText(ofTarget)}` };
  return undefined;
};

/** Why a task without a batch waits. Reasons that concern the whole operation come first. */
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
  if (lock.openBatch) return { reason: 'open-batch', text: `the sealing of batch ${lock.openBatch} of its Target` };
  const { perTarget, total } = concurrency;
  if (perTarget !== null && inFlight.length >= perTarget)
    return {
      reason: 'room-in-target',
      text: `the end of a batch of its Target: ${inFlight.length} of ${perTarget} batches are in progress (${inBrief(inFlight)})`,
    };
  if (lock.blocked !== undefined)
    return {
      reason: 'room-in-operation',
      // Name the numbers only if all slots are taken. If a slot is free, the elect message that wakes the Target may be
      // on its way.
      text: `a free slot of its operation${total === null || state.taken < total ? '' : `: ${state.taken} of ${total} slots are taken`}`,
    };
  if (isHeld(lock, now))
    return {
      reason: 'batch-to-fill',
      text: `more tasks for its batch, at the latest until ${iso(waitEnd(waitsSince(task), batch))} if a slot is free then`,
    };
  return {
    reason: 'leader',
    text: 'a leader of its Target. If this lasts for minutes, run groupage doctor',
  };
};

/** A wait, in the unit that suits it. */
const inWords = (wait: Millis): string => {
  const seconds = Math.max(1, Math.ceil(wait / SECOND));
  if (seconds < 100) return `${seconds} s`;
  return seconds < 6_000 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
};

/** When a pause began, when it ends, and why the operation or Target was paused. */
const pauseText = ({ since, until, reason }: Pause): string =>
  [
    `since ${iso(since)}`,
    ...(until === undefined ? [] : [`until ${iso(until)}`]),
    ...(reason === undefined ? [] : [`(${reason})`]),
  ].join(' ');
