/**
 * Ends an attempt (H5, H6): postpones the batch with its open tasks, or finishes it. First it notifies for the tasks
 * that ended. If the function dies before the batch's row is written, the next attempt notifies for those tasks again.
 */

import { type Batch, finishedStatus, lastAttempt, membersOf } from '../../domain/batches/batch.ts';
import type { Lock } from '../../domain/batches/lock.ts';
import { failuresAlone, isAtFault, isProven, proofsAgainst, type Suspicion } from '../../domain/batches/suspicion.ts';
import { inFull, type Reason, whyOf } from '../../domain/downstream/downstream.ts';
import { failAll } from '../../domain/downstream/verdict.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import { type Pause, parseSlot, slotOfBatch } from '../../domain/operations/slots.ts';
import type { TaskError } from '../../domain/tasks/task.ts';
import { delayPast } from '../../domain/timings.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { lendAfterFailure, releaseSlots } from '../slots/batch-slot.ts';
import { countFailure, countSuccess } from './circuit.ts';
import { FIRST, hasEvidence, isSuspected, nextAttempt, splitAfter, type When } from './next-attempt.ts';
import type { Attempt, Left, Rest, Tally } from './tally.ts';

type Ending = Pick<Attempt, 'batch' | 'operation' | 'attempt' | 'countedAttempts'>;

export const endAttempt = async (deps: CallDeps, run: Attempt, tally: Tally, all: Rest): Promise<Next> => {
  const judgement = await judgeDownstream(deps, run, all);
  const rest = await withoutSpent(run, tally, withFault(run, all, judgement));
  const when = nextAttempt(deps.machine, run, rest, judgement.pause, tally);
  if (when) return postpone(deps, run, tally, rest, when, judgement);
  await giveUp(run, tally, rest.left, isSuspected(run, rest, tally));
  if (rest.pending.length === 0) return finish(deps, run, tally);
  return postpone(
    deps,
    run,
    tally,
    { ...rest, left: [] },
    { retryAt: pendingUntil(deps, run, rest), countedAttempts: run.countedAttempts, ...splitAfter(run, rest) },
  );
};

/**
 * H8. A call of a task alone that failed while the circuit is open or half-open does not count, unless other calls
 * succeeded since the batch's last failure.
 */
const withFault = ({ batch, state, isTest }: Attempt, rest: Rest, { pause }: Judgement): Rest => {
  if ((!pause && !isTest) || isProven(batch, state)) return rest;
  const { failedAlone: _, ...same } = rest;
  return same;
};

/**
 * H8. Fails the task that was called alone, if its calls have failed `maxAttempts` times, and the downstream works. The
 * failure of the whole batch counts as the first.
 */
const withoutSpent = async (run: Attempt, tally: Tally, rest: Rest): Promise<Rest> => {
  const { failedAlone, left } = rest;
  const { maxAttempts } = run.operation.retry;
  const failures = FIRST + (failuresAlone(run.batch).get(failedAlone as TaskId) ?? 0) + 1;
  if (failedAlone === undefined || failures < maxAttempts || !hasEvidence(run, tally, 2)) return rest;
  const [spent, others] = [
    left.filter((each) => isAlone(each, failedAlone)),
    left.filter((each) => !isAlone(each, failedAlone)),
  ];
  await giveUp({ ...run, countedAttempts: failures }, tally, spent, true);
  const { failedAlone: _, ...same } = rest;
  return { ...same, left: others, parts: others.map(({ items }) => items.length) };
};

const isAlone = ({ items: [first, other] }: Left, id: TaskId): boolean => first?.id === id && other === undefined;

/** The time until which jobs may report. The newest job's deadline applies to all jobs of the batch. */
const pendingUntil = ({ machine }: CallDeps, { batch, operation }: Attempt, { hasTaken }: Rest): Millis =>
  (!hasTaken && batch.pending?.until) || machine.now() + operation.downstream.deadline;

/** Whether earlier batches of the Target succeeded: it has had some, and no failure was noted. */
const hasWorkedBefore = (batch: Batch, { failedAt }: Lock): boolean =>
  failedAt === undefined && parseSlot(slotOfBatch(batch)).round > 1;

/** What an attempt shows about the downstream and about the batch. */
interface Judgement {
  /** The operation's pause, if every call of the attempt failed. */
  readonly pause?: Pause;
  readonly suspicion?: Suspicion;
}

/**
 * Counts the attempt for the circuit. The failure of a batch at fault does not count, because other calls succeeded
 * after its earlier failures (H8).
 */
const judgeDownstream = async (
  deps: CallDeps,
  { batch, operation, state, lock }: Attempt,
  { failure, wasAnswered, parts }: Rest,
): Promise<Judgement> => {
  const { circuit } = operation;
  const isRecovery = wasAnswered && (state.failures > 0 || lock.failedAt !== undefined);
  if (circuit && failure?.is === 'failed')
    await deps.locks.noteCall(batch.target, 'failed', deps.machine.now(), hasWorkedBefore(batch, lock));
  else if (circuit && isRecovery && (lock.failedAt !== undefined || !lock.workedAt))
    await deps.locks.noteCall(batch.target, 'worked', deps.machine.now());
  const proofs = proofsAgainst(batch, state);
  if (failure?.is === 'failed' && isAtFault(batch, state))
    return { suspicion: { recoveries: state.recoveries, proofs } };
  if (failure) {
    const { recoveries, pause } = await countFailure(deps, batch.operation, circuit, failure, state);
    const suspicion = failure.is === 'failed' ? { recoveries, proofs } : batch.suspicion;
    return { ...(pause ? { pause } : {}), ...(suspicion ? { suspicion } : {}) };
  }
  if (wasAnswered) await countSuccess(deps, batch.operation, circuit, state);
  // The attempt's own success before the failed part is no proof.
  const recoveries = state.recoveries + (state.failures > 0 || state.throttledSince !== undefined ? 1 : 0);
  return parts ? { suspicion: { recoveries, proofs } } : {};
};

/** H5. Postpones the batch, then sends its message. */
const postpone = async (
  deps: CallDeps,
  run: Attempt,
  tally: Tally,
  rest: Rest,
  { isExtended = run.batch.suspicion?.isExtended, inVain = 0, ...when }: When,
  { pause, suspicion }: Judgement = {},
): Promise<Next> => {
  await tally.notifyEnded();
  const { batch, attempt } = run;
  const { left, pending } = rest;
  const open = left.flatMap(({ items }) => items.map(({ id }) => id));
  // The sizes of parts refer to the order of the open members.
  const isAll = pending.length === 0 && open.length === membersOf(batch).length && !when.parts;
  const until = pendingUntil(deps, run, rest);
  const why: Reason = left[0] ?? { reason: 'its job reports later' };
  const remaining = { ...(isAll ? {} : { open }), ...(pending.length > 0 ? { pending: { ids: pending, until } } : {}) };
  const fault = suspicion
    ? { suspicion: { ...suspicion, ...(isExtended ? { isExtended } : {}), ...(inVain ? { inVain } : {}) } }
    : {};
  const failures = when.parts && partFailuresOf(run, rest);
  const ended = {
    ...fault,
    ...(failures?.some((each) => each > 0) ? { partFailures: failures } : {}),
    counts: tally.counts,
    lastAttempt: lastAttempt(why, deps.machine.now()),
  };
  if (!(await deps.batches.postpone(batch.id, attempt, { ...when, ...remaining, ...ended }))) return 'again';
  await comeBack(deps, batch, when.retryAt);
  // A job that is under way needs the slot.
  if (pause?.by === 'circuit' && rest.failure?.is === 'failed' && pending.length === 0)
    await lendAfterFailure(deps, batch);
  const count = open.length + pending.length;
  const reporting = pending.length > 0 ? { pending: pending.length } : {};
  deps.report({
    event: 'postponed',
    batchId: batch.id,
    operation: batch.operation,
    open: count,
    ...reporting,
    retryAt: when.retryAt,
    ...whyOf(why),
  });
  return 'end';
};

/** How many calls with each task alone have failed, in the order of the parts. */
const partFailuresOf = ({ batch }: Attempt, { left, failedAlone }: Rest): readonly number[] => {
  const before = failuresAlone(batch);
  return left.map(({ items: [first, other] }) =>
    first && other === undefined ? (before.get(first.id) ?? 0) + (first.id === failedAlone ? 1 : 0) : 0,
  );
};

/** Sends a batch's message for its next attempt. */
export const comeBack = async (
  { queues, machine }: CallDeps,
  { id }: Pick<Batch, 'id'>,
  retryAt: Millis,
): Promise<void> => {
  const now = machine.now();
  await queues.batch({ kind: 'due', batchId: id }, retryAt < now ? 0 : delayPast(retryAt, now));
};

/** Fails the open items, each with its own last reason. */
export const giveUp = async (
  { operation, countedAttempts }: Ending,
  tally: Tally,
  left: readonly Left[],
  suspect = false,
): Promise<void> => {
  const most = Math.min(countedAttempts, operation.retry.maxAttempts);
  await tally.record(
    left.flatMap(({ items, ...why }) => failAll(items, exhausted(most, inFull(why)), suspect)),
    countedAttempts,
  );
};

const exhausted = (attempts: number, reason: string): TaskError => ({
  code: 'attempts-exhausted',
  message: `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`,
  retriable: true,
});

/** H6, H7. Notifies, stores the final status, and frees the slots. */
export const finish = async (deps: CallDeps, { batch, attempt, operation }: Ending, tally: Tally): Promise<Next> => {
  await tally.notifyEnded();
  const { counts } = tally;
  const status = finishedStatus(counts);
  const end = { status, counts, at: deps.machine.now(), keep: operation.keepTasks };
  // Use the row that this write returns: since the batch was read, it may have got a place in its Target (K3,
  // count-under-way.ts).
  const finished = await deps.batches.finish(batch.id, attempt, end);
  if (!finished) return 'again';
  deps.report({ event: 'finished', batchId: batch.id, operation: batch.operation, status, counts });
  await releaseSlots(deps, finished);
  return 'end';
};
