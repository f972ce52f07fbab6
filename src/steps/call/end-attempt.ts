/**
 * Ends an attempt (H5, H6): postpones the batch with its open tasks, or finishes it. First it notifies for the tasks
 * that ended. If the function dies before the batch's row is written, the next attempt notifies for those tasks again.
 */

import { type Batch, finishedStatus, lastAttempt, membersOf } from '../../domain/batches/batch.ts';
import { lastCalls } from '../../domain/batches/call-record.ts';
import type { OpenTask } from '../../domain/batches/members.ts';
import { mostUsed, setBack, storedAs, type Used, usedBy } from '../../domain/batches/sparing.ts';
import { failuresAlone, isProven } from '../../domain/batches/suspicion.ts';
import { inFull, type Reason, whyOf } from '../../domain/downstream/downstream.ts';
import { failAll } from '../../domain/downstream/verdict.ts';
import type { Millis, TaskId } from '../../domain/ids.ts';
import type { Grant } from '../../domain/limits/bucket.ts';
import type { TaskError } from '../../domain/tasks/task.ts';
import { delayPast } from '../../domain/timings.ts';
import type { Next } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { releaseOperationSlot, releaseSlots } from '../slots/batch-slot.ts';
import { type Judgement, judgeDownstream } from './judgement.ts';
import { settleAttempt } from './moments.ts';
import { FIRST, hasEvidence, isSuspected, nextAttempt, splitAfter, type When } from './next-attempt.ts';
import type { Attempt, Left, Rest, Tally } from './tally.ts';

export const endAttempt = async (deps: CallDeps, run: Attempt, tally: Tally, all: Rest): Promise<Next> => {
  const grants = await settleAttempt(
    deps,
    run,
    all.pending.length > 0 ? pendingUntil(deps, run, all) : undefined,
    all.hasTaken,
  );
  const judgement = await judgeDownstream(deps, run, all);
  // H8. A failed call of a task alone counts if the circuit is closed, or other calls have succeeded since the batch's
  // last failure.
  const counts = !(judgement.pause || run.isTest) || isProven(run.batch, run.state);
  const rest = await withoutSpent(run, tally, counts ? all : withoutFailedAlone(all));
  return close(deps, run, tally, rest, judgement, grants);
};

/** Postpones the batch if an open item has attempts left. Otherwise fails the open items. */
const close = async (
  deps: CallDeps,
  run: Attempt,
  tally: Tally,
  rest: Rest,
  judgement: Judgement,
  grants: readonly Grant[] | undefined,
): Promise<Next> => {
  const throttled = throttledIn(rest.left);
  const open = rest.left.flatMap(({ items }) => items.map(({ id }) => id));
  const counted = Math.min(run.countedAttempts, run.operation.retry.maxAttempts);
  const used = usedBy(run.batch, [...open, ...rest.pending], counted, throttled);
  const most = mostUsed(used, open);
  const when = nextAttempt(deps.machine, { ...run, countedAttempts: most }, rest, judgement.pause, tally);
  if (when) {
    const then = setBack(used, throttled, most, when.countedAttempts);
    return postpone(deps, run, tally, rest, when, then, judgement, grants);
  }
  const isLeft = itemsLeft(used, throttled, open, most);
  await giveUp(
    run,
    tally,
    only(rest.left, ({ id }) => !isLeft(id)),
    isSuspected(run, rest, tally),
  );
  const others = only(rest.left, ({ id }) => isLeft(id));
  if (others.length > 0) return close(deps, run, tally, { ...withoutParts(rest), left: others }, judgement, grants);
  if (rest.pending.length === 0) return finish(deps, run, tally);
  const later = { retryAt: pendingUntil(deps, run, rest), countedAttempts: run.countedAttempts };
  return postpone(deps, run, tally, { ...rest, left: [] }, { ...later, ...splitAfter(run, rest) }, used, {}, grants);
};

/** The items that the last calls throttled one by one. */
const throttledIn = (left: readonly Left[]): ReadonlySet<TaskId> =>
  new Set(left.flatMap(({ throttled }) => [...(throttled ?? [])]));

/**
 * Which open items of a batch that gives up have attempts left. If all have used the same number, the attempt may have
 * been in vain (H8): then only throttled items are left.
 */
const itemsLeft = (
  used: Used,
  throttled: ReadonlySet<TaskId>,
  open: readonly TaskId[],
  most: number,
): ((id: TaskId) => boolean) => {
  const hasFewer = open.some((id) => (used.get(id) ?? 0) < most);
  if (hasFewer) return (id) => (used.get(id) ?? 0) < most;
  return open.every((id) => throttled.has(id)) ? () => false : (id) => throttled.has(id);
};

/** Some of the open items, with the reasons why they are open. */
export const only = (left: readonly Left[], isOne: (item: OpenTask) => boolean): readonly Left[] =>
  left.map((each) => ({ ...each, items: each.items.filter(isOne) })).filter(({ items }) => items.length > 0);

const withoutParts = ({ parts: _, failedAlone: __, ...rest }: Rest): Rest => rest;

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
  await giveUp(run, tally, spent, true);
  return { ...withoutFailedAlone(rest), left: others, parts: others.map(({ items }) => items.length) };
};

const withoutFailedAlone = ({ failedAlone: _, ...rest }: Rest): Rest => rest;

const isAlone = ({ items: [first, other] }: Left, id: TaskId): boolean => first?.id === id && other === undefined;

/** The time until which jobs may report. The newest job's deadline applies to all jobs of the batch. */
const pendingUntil = ({ machine }: CallDeps, { batch, operation }: Attempt, { hasTaken }: Rest): Millis =>
  (!hasTaken && batch.pending?.until) || machine.now() + operation.downstream.deadline;

/** H5. Postpones the batch, then sends its message. */
const postpone = async (
  deps: CallDeps,
  run: Attempt,
  tally: Tally,
  rest: Rest,
  { isExtended = run.batch.suspicion?.isExtended, inVain = 0, ...when }: When,
  used: Used,
  { pause, suspicion }: Judgement,
  grants: readonly Grant[] | undefined,
): Promise<Next> => {
  await tally.notifyEnded();
  const { batch, attempt } = run;
  const { left, pending } = rest;
  const open = left.flatMap(({ items }) => items.map(({ id }) => id));
  const count = open.length + pending.length;
  // The sizes of parts refer to the order of the open members.
  const isSame = open.every((id) => used.get(id) === used.get(open[0] as TaskId));
  const isAll = pending.length === 0 && open.length === membersOf(batch).length && !when.parts && isSame;
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
    lastAttempt: lastAttempt(why, { attempt, endedAt: deps.machine.now(), open: count, pending: pending.length }),
    calls: lastCalls(batch.calls, run.calls),
    ...(grants ? { grants } : {}),
  };
  // Free the slot while no other attempt can begin. An attempt that begins later finds that it has none. A function that
  // was suspended beyond its time frees nothing, because the slot may belong to a later attempt. A job that is under way
  // needs the slot.
  const mayLend = pending.length === 0 && run.invocation.timeLeft() > 0;
  if (pause?.by === 'circuit' && rest.failure?.is === 'failed' && mayLend) await releaseOperationSlot(deps, batch);
  const counted = isAll ? { countedAttempts: mostUsed(used, open) } : storedAs(remaining, used);
  if (!(await deps.batches.postpone(batch.id, attempt, { ...when, ...remaining, ...ended, ...counted })))
    return 'again';
  await comeBack(deps, batch, when.retryAt);
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

/**
 * Fails the open items, each with its own last reason, because no attempt is left. They name `maxAttempts`, although the
 * batch may have had more attempts in parts.
 */
export const giveUp = async (
  { operation: { retry } }: Pick<Attempt, 'operation'>,
  tally: Tally,
  left: readonly Left[],
  suspect = false,
): Promise<void> =>
  tally.record(
    left.flatMap(({ items, ...why }) => failAll(items, exhausted(retry.maxAttempts, inFull(why)), suspect)),
    retry.maxAttempts,
  );

const exhausted = (attempts: number, reason: string): TaskError => ({
  code: 'attempts-exhausted',
  message: `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`,
  retriable: true,
});

/** H6, H7. Notifies, stores the final status, and frees the slots. */
export const finish = async (
  deps: CallDeps,
  { batch, attempt, operation, calls }: Pick<Attempt, 'batch' | 'attempt' | 'operation'> & Partial<Attempt>,
  tally: Tally,
): Promise<Next> => {
  await tally.notifyEnded();
  const { counts } = tally;
  const status = finishedStatus(counts);
  const at = deps.machine.now();
  const end = { status, counts, at, keep: operation.keepTasks, calls: calls && lastCalls(batch.calls, calls) };
  // Use the row that this write returns: since the batch was read, it may have got a place in its Target (K3,
  // count-under-way.ts).
  const finished = await deps.batches.finish(batch.id, attempt, end);
  if (!finished) return 'again';
  deps.report({ event: 'finished', batchId: batch.id, operation: batch.operation, status, counts });
  await releaseSlots(deps, finished);
  return 'end';
};
