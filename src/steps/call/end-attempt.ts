/**
 * Ends an attempt (H5, H6): postpones the batch with its open tasks, or finishes it. First it notifies for the tasks
 * that ended. If the function dies before the batch's row is written, the next attempt notifies for those tasks again.
 */

import { type Batch, finishedStatus, lastAttempt, membersOf } from '../../domain/batches/batch.ts';
import { attemptTime } from '../../domain/config/resolved.ts';
import { inFull, type Reason, whyOf } from '../../domain/downstream/downstream.ts';
import { delayCeiling, retryDelay } from '../../domain/downstream/retry.ts';
import { failAll } from '../../domain/downstream/verdict.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Pause } from '../../domain/operations/slots.ts';
import type { TaskError } from '../../domain/tasks/task.ts';
import { delayPast } from '../../domain/timings.ts';
import type { Postponed } from '../../ports/batches.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { releaseSlots } from '../slots/batch-slot.ts';
import { countFailure, countSuccess } from './circuit.ts';
import { lookAgain } from './hold.ts';
import type { Attempt, Left, Rest, Tally } from './tally.ts';

type Ending = Pick<Attempt, 'batch' | 'operation' | 'attempt' | 'countedAttempts'>;

export const endAttempt = async (deps: CallDeps, run: Attempt, tally: Tally, rest: Rest): Promise<Next> => {
  const pause = await judgeDownstream(deps, run, rest);
  const when = nextAttempt(deps, run, rest, pause, tally);
  if (when) return postpone(deps, run, tally, rest, when);
  await giveUp(run, tally, rest.left);
  if (rest.pending.length === 0) return finish(deps, run, tally);
  return postpone(
    deps,
    run,
    tally,
    { ...rest, left: [] },
    { retryAt: pendingUntil(deps, run, rest), countedAttempts: run.countedAttempts, ...partsAfter(run, rest) },
  );
};

/** The time until which jobs may report. The newest job's deadline applies to all jobs of the batch. */
const pendingUntil = ({ machine }: CallDeps, { batch, operation }: Attempt, { hasTaken }: Rest): Millis =>
  (!hasTaken && batch.pending?.until) || machine.now() + operation.downstream.deadline;

/** Counts the attempt for the circuit. @returns the operation's pause, if every call of the attempt failed. */
const judgeDownstream = async (
  deps: CallDeps,
  { batch, operation: { circuit }, state }: Attempt,
  { failure, wasAnswered }: Rest,
): Promise<Pause | undefined> => {
  if (!circuit) return undefined;
  if (failure) return countFailure(deps, batch.operation, circuit, failure, state);
  if (wasAnswered) await countSuccess(deps, batch.operation, circuit, state);
  return undefined;
};

/** When the next attempt is due, how many attempts count so far, and the size of its parts. */
type When = Pick<Postponed, 'retryAt' | 'countedAttempts' | 'split'>;

/** When the batch is due next. Undefined if no task is open or no attempt is left. */
const nextAttempt = (
  { machine }: CallDeps,
  run: Attempt,
  rest: Rest,
  pause: Pause | undefined,
  tally: Tally,
): When | undefined => {
  const { operation, countedAttempts } = run;
  const now = machine.now();
  const delay = (after = countedAttempts): Millis =>
    retryDelay(operation.retry, after, machine.random(), pauseAsked(run));
  const inSplits = partsAfter(run, rest);
  if (rest.cut && hasProgressed(run, rest, tally))
    return { retryAt: rest.cut.isLate ? now - 1 : now + delay(), countedAttempts: countedAttempts - 1, ...inSplits };
  if (rest.left.length === 0) return undefined;
  if (pause?.until !== undefined)
    return {
      retryAt: Math.max(lookAgain(operation, pause.until, now, machine.random()), now + pauseAsked(run)),
      countedAttempts: countedAttempts - 1,
      ...inSplits,
    };
  // A throttled attempt does not count, because the tasks are not at fault (O5). The delay grows with each attempt, so
  // that fewer calls are made.
  if (rest.failure?.is === 'throttled')
    return { retryAt: now + delay(run.attempt), countedAttempts: countedAttempts - 1, ...inSplits };
  // Another batch has closed the circuit since this attempt began. The attempt called too early, so it does not count.
  if (isProbe(run) && rest.failure)
    return { retryAt: now + delay(), countedAttempts: countedAttempts - 1, ...inSplits };
  if (countedAttempts >= operation.retry.maxAttempts) return undefined;
  return { retryAt: now + delay(), countedAttempts, ...inSplits };
};

/**
 * The parts of the next attempt. Parts never grow again: if the answer for the whole batch was too large, another call
 * for the whole batch would only repeat its effects.
 */
const partsAfter = ({ batch }: Attempt, { cut, split }: Rest): Pick<Postponed, 'split'> => {
  const sizes = [cut?.split, split, batch.split].filter((size) => size !== undefined);
  return sizes.length === 0 ? {} : { split: Math.min(...sizes) };
};

/** Whether the circuit was half-open when the attempt began, so that the attempt tests the downstream (O4). */
const isProbe = ({ operation: { circuit }, state }: Attempt): boolean =>
  circuit !== null && state.failures >= circuit.failures;

/**
 * Whether an attempt that was cut short made progress. An attempt without progress counts, so that a batch cannot be
 * cut short endlessly.
 */
const hasProgressed = ({ batch, members }: Attempt, { cut, hasTaken }: Rest, { counts }: Tally): boolean => {
  const before = members.counts.succeeded + members.counts.failed;
  const known = batch.open || batch.pending ? (batch.counts?.succeeded ?? 0) + (batch.counts?.failed ?? 0) : 0;
  const ended = counts.succeeded + counts.failed - before - known;
  return ended > 0 || hasTaken || (cut?.split ?? 0) < (batch.split ?? members.open.length);
};

/**
 * The pause that the downstream asked for, in ms, up to a limit. Without the limit, the results of a batch's first
 * attempts could be deleted before the batch ends.
 */
export const pauseAsked = ({
  operation,
  countedAttempts,
  asked,
}: Pick<Attempt, 'operation' | 'countedAttempts' | 'asked'>): Millis => {
  const { keepTasks, retry, downstream } = operation;
  const share = keepTasks / retry.maxAttempts;
  const longest = share - attemptTime(downstream.timeout, retry.immediate) - delayCeiling(retry, countedAttempts);
  return Math.min(asked.pause, Math.max(0, longest));
};

/** H5. Postpones the batch, then sends its message. */
const postpone = async (deps: CallDeps, run: Attempt, tally: Tally, rest: Rest, when: When): Promise<Next> => {
  await tally.notifyEnded();
  const { batch, attempt } = run;
  const { left, pending } = rest;
  const open = left.flatMap(({ items }) => items.map(({ id }) => id));
  const isAll = pending.length === 0 && open.length === membersOf(batch).length;
  const until = pendingUntil(deps, run, rest);
  const why: Reason = left[0] ?? { reason: 'its job reports later' };
  const remaining = { ...(isAll ? {} : { open }), ...(pending.length > 0 ? { pending: { ids: pending, until } } : {}) };
  const ended = { counts: tally.counts, lastAttempt: lastAttempt(why, deps.machine.now()) };
  if (!(await deps.batches.postpone(batch.id, attempt, { ...when, ...remaining, ...ended }))) return 'again';
  await comeBack(deps, batch, when.retryAt);
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
): Promise<void> => {
  const most = Math.min(countedAttempts, operation.retry.maxAttempts);
  await tally.record(
    left.flatMap(({ items, ...why }) => failAll(items, exhausted(most, inFull(why)))),
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
