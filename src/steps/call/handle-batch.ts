/**
 * Handle a batch: call the downstream and write a result for each member (H1 to H7).
 *
 * 1. Check whether an attempt may begin: the batch is sealed and due, is not paused, holds its slots, and has moments for
 *    its call under the operation's limits.
 * 2. Load the open members, then start the attempt. In this order, an attempt does not count if the table throttles the
 *    reads.
 * 3. Call, write results, then postpone or finish the batch.
 *
 * Attempts are numbered. An attempt may postpone or finish the batch only while the batch's row has the number of that
 * attempt. So a handler that was suspended for too long can only write results that are still missing.
 */

import { type Batch, isFinished, unfinishedOf } from '../../domain/batches/batch.ts';
import type { Members } from '../../domain/batches/members.ts';
import type { BatchMessage, DueMessage } from '../../domain/batches/messages.ts';
import { timeForTest, yieldsUntil } from '../../domain/batches/probe.ts';
import { callsParts } from '../../domain/batches/suspicion.ts';
import { handlerTimeout, type Operation, operationFor } from '../../domain/config/resolved.ts';
import { failAll } from '../../domain/downstream/verdict.ts';
import { type Millis, operationOf } from '../../domain/ids.ts';
import { isHalfOpen, pauseNow } from '../../domain/operations/slots.ts';
import type { TaskError } from '../../domain/tasks/task.ts';
import { CLOCK_SKEW, delayPast, MINUTE, SECOND } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import { type Next, OutOfTime, untilDone } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { ensureSlot, joinWaiting, leaveWaiting, lendSlot, releaseSlotsAgain } from '../slots/batch-slot.ts';
import { wakeForFreeSlot, wakeUnlessPaused } from '../slots/wake.ts';
import { noteAnswers } from './answers.ts';
import { callInParts, openFor, spareTime } from './attempt.ts';
import { completeBatch } from './complete-batch.ts';
import { endAttempt } from './end-attempt.ts';
import { hold, isFirstLook, lookLater } from './hold.ts';
import { leaveMoments, momentsFor, momentsOfJobs, reachMoment, settleLeases, storedWith } from './moments.ts';
import { comeBackUncounted, patient, takesPlace } from './not-stored.ts';
import { type Attempt, type Left, type Rest, Tally } from './tally.ts';

export const handleBatch = (deps: CallDeps, message: BatchMessage, delivery: Delivery): Promise<void> =>
  message.kind === 'completion'
    ? completeBatch(deps, message, delivery)
    : untilDone(`batch ${message.batchId}`, delivery, () => takeTurn(deps, message, delivery));

/**
 * The batch is not sealed yet, so its members are not fixed. A message that arrives before the seal fails, so SQS
 * delivers it again.
 */
export class NotSealed extends Error {
  override readonly name = 'NotSealed';
}

/** H1. Checks whether an attempt may begin. */
const takeTurn = async (deps: CallDeps, received: DueMessage, delivery: Delivery): Promise<Next> => {
  const { batches, machine, report } = deps;
  const { batchId } = received;
  const batch = await batches.get(batchId);
  if (!batch) {
    report({ event: 'unknown-batch', batchId });
    if (received.woken) await wakeUnlessPaused(deps, operationOf(batchId));
    return 'end';
  }
  if (isFinished(batch.status)) {
    await releaseSlotsAgain(deps, batch);
    return 'end';
  }
  if (batch.status === 'forming')
    throw new NotSealed(`batch ${batchId} is not sealed yet; SQS delivers its message again`);
  // Remove an `uncounted` mark of an earlier attempt: it no longer applies, and it must not outlive the mark of this
  // attempt (hold.ts).
  const message = (received.uncounted ?? batch.attempt) < batch.attempt ? withoutMark(received) : received;
  const now = machine.now();
  if (batch.status === 'in-progress' && batch.runUntil >= now) {
    if (message.woken) await wakeUnlessPaused(deps, batch.operation);
    else await lookLater(deps, message, batch, delayPast(batch.runUntil, now));
    return 'end';
  }
  const operation = operationFor(deps.config, batch.operation);
  const [state, lock] = await Promise.all([deps.operations.read(batch.operation), deps.locks.read(batch.target)]);
  const pause = pauseNow(state, now) ?? pauseNow(lock, now);
  if (pause) {
    const lends = lock.paused ?? (pause.by === 'circuit' && batch.suspicion ? pause : undefined);
    if (pause.by === 'circuit' && isFirstLook(message, now)) await joinWaiting(deps, batch, lock);
    if (lends) await lendSlot(deps, batch, state, lends, isFirstLook(message, now));
    if (isFirstLook(message, now)) await leaveMoments(deps, message, batch);
    if (!message.woken) return hold(deps, message, batch, operation, pause);
    await wakeUnlessPaused(deps, batch.operation);
    return 'end';
  }
  const yields = yieldsUntil(batch, message.woken === true, state, operation.circuit);
  if (now < yields) return yieldTest(deps, message, batch, yields, operation);
  // A row that is left over could be chosen for a later test.
  if (message.held && operation.circuit) await leaveWaiting(deps, batch);
  const slot = await ensureSlot(deps, batch, state);
  // The batch needs no slot, so wake another Target for it. In a half-open circuit, the batch was woken for the test.
  if (slot === 'held' && message.woken && operation.concurrency.total !== null && !isHalfOpen(state, operation.circuit))
    await wakeUnlessPaused(deps, batch.operation);
  if (slot === 'none') return awaitSlot(deps, message, batch);
  // The batch may already have had a slot, on a page that its row does not name. Then the slot for which it was woken
  // is still free, so wake another Target.
  if (slot === 'taken' && message.woken) await wakeForFreeSlot(deps, batch.operation);
  const isFree = takesPlace(batch, message.uncounted);
  const countedAttempts = batch.countedAttempts + (isFree ? 0 : 1);
  const isOneTooMany = countedAttempts > operation.retry.maxAttempts;
  const grants = isOneTooMany ? [] : await momentsFor(deps, message, batch, operation);
  if (grants === 'waits') return 'end';
  return start(deps, batch, operation, { state, lock, grants }, { countedAttempts, isFree }, delivery);
};

const withoutMark = ({ uncounted: _, ...message }: DueMessage): DueMessage => message;

/**
 * When a slot is freed, the batch gets a `woken` message. Because that message may be lost, the batch's own message
 * also checks each minute. Only its own message is sent again: if `woken` messages were sent again too, each of them
 * that finds no slot would add a message.
 */
const awaitSlot = async (deps: CallDeps, message: DueMessage, batch: Batch): Promise<Next> => {
  if (isFirstLook(message, deps.machine.now())) await leaveMoments(deps, message, batch);
  if (!message.woken) await lookLater(deps, message, batch, MINUTE / SECOND);
  deps.report({ event: 'blocked', operation: batch.operation, target: batch.target });
  return 'end';
};

/** O4. Leaves the test of the downstream to the Target or batch that was woken for it. */
const yieldTest = async (
  deps: CallDeps,
  message: DueMessage,
  batch: Batch,
  until: Millis,
  { circuit }: Operation,
): Promise<Next> => {
  const { machine } = deps;
  const now = machine.now();
  const look = Math.min(until + machine.random() * (circuit ? timeForTest(circuit) : 0), now + MINUTE);
  if (isFirstLook(message, now)) await leaveMoments(deps, message, batch);
  if (message.woken) await wakeUnlessPaused(deps, batch.operation);
  else await lookLater(deps, message, batch, delayPast(look, now));
  return 'end';
};

/** How an attempt counts towards `retry.maxAttempts`. */
interface Count {
  /** The counted attempts, including this one. */
  readonly countedAttempts: number;
  /** Whether this attempt replaces an earlier attempt that does not count. */
  readonly isFree: boolean;
}

/**
 * H2, after H3. Each attempt that starts counts, so an attempt whose operation is not configured, or whose tasks cannot
 * be read, does not start. A suspended handler may write results between H3 and H2. Such a task is included in a call
 * once more, as it would be in a later attempt.
 */
const start = async (
  deps: CallDeps,
  batch: Batch,
  operation: Operation,
  { state, lock, grants }: Pick<Attempt, 'state' | 'lock' | 'grants'>,
  { countedAttempts, isFree }: Count,
  invocation: Delivery,
): Promise<Next> => {
  const { batches, machine, config, tasks } = deps;
  const members = await loadMembers(deps, batch);
  const [first] = members.open;
  // Before the call, test that results can be stored, because those of the previous attempt may not have been stored.
  // If `startedBy` is still set, the function of that attempt died.
  if (first && (isFree || batch.uncounted || batch.startedBy)) await tasks.touch(first.id, batch.id);
  if (spareTime(operation, invocation) < 0)
    throw new OutOfTime(`no time left for a call for batch ${batch.id}; SQS delivers its message again`);
  if (!(await reachMoment(deps, grants))) return 'again';
  const [attempt, token, at] = [batch.attempt + 1, machine.token(), machine.now()];
  const uncounted = isFree ? (batch.uncounted ?? 0) + 1 : undefined;
  const runUntil = at + handlerTimeout(config) + 2 * CLOCK_SKEW;
  const jobGrants = momentsOfJobs(batch, at);
  // A job may report later, and then another function ends the leases.
  const stored = storedWith(jobGrants, grants);
  // A refused write may mean that this function's own write succeeded: the client repeats a request whose response was
  // lost.
  const isMine =
    (await batches.start(batch.id, { attempt, countedAttempts, uncounted, token, at, runUntil, grants: stored })) ||
    (await batches.get(batch.id))?.startedBy === token;
  // Another delivery may have begun the attempt with the same leases.
  if (!isMine) return 'again';
  const begun = uncounted === undefined ? batch : { ...batch, uncounted };
  const run: Attempt = {
    batch: begun,
    operation,
    members,
    state,
    attempt,
    countedAttempts,
    isIsolating: callsParts(batch, members.open.length, operation, state, at),
    isTest: isHalfOpen(state, operation.circuit),
    lock,
    grants,
    jobGrants,
    calling: { grants },
    invocation,
    calls: [],
    asked: { pause: 0 },
  };
  const next = await runAttempt(patient(deps, invocation), run).catch(async (cause) => {
    if (cause instanceof OutOfTime) throw cause;
    await settleLeases(deps, batch, grants);
    return comeBackUncounted(deps, run, cause);
  });
  await noteAnswers(deps, run);
  return next;
};

/**
 * H3. Before the first attempt no member has ended, and the start is refused if another attempt has started meanwhile.
 * So a member that an eventually consistent read shows in the batch is open. All other members need a strongly
 * consistent read.
 */
const loadMembers = async ({ tasks }: CallDeps, batch: Batch): Promise<Members> => {
  const ids = unfinishedOf(batch);
  const seen = batch.attempt === 0 ? await tasks.readEventually(ids, batch.id) : [];
  const open = new Map(seen.map((task) => [task.id, task]));
  const rest = await tasks.members(
    ids.filter((id) => !open.has(id)),
    batch.id,
  );
  for (const task of rest.open) open.set(task.id, task);
  return { ...rest, open: ids.flatMap((id) => open.get(id) ?? []) };
};

/** H4 to H7. Runs an attempt and ends it. */
const runAttempt = async (deps: CallDeps, run: Attempt): Promise<Next> => {
  const { batch, operation, members, countedAttempts } = run;
  const tally = new Tally(deps, batch, operation, members);
  await tally.record(failAll(members.lost, PAYLOAD_LOST), countedAttempts);
  const isOneTooMany = countedAttempts > operation.retry.maxAttempts;
  const rest = isOneTooMany ? notReported(run, deps.machine.now()) : await callInParts(deps, run, tally);
  return endAttempt(deps, run, tally, rest);
};

const PAYLOAD_LOST: TaskError = {
  code: 'payload-lost',
  message: 'its payload is no longer stored: send the task again under another id',
  retriable: false,
};

/** The open tasks of a batch that has no attempts left. */
const notReported = (run: Attempt, now: Millis): Rest => {
  const { items: open, pending } = openFor(run, now);
  const jobs = new Set(run.batch.pending?.ids);
  const items = (isPending: boolean) => open.filter(({ id }) => jobs.has(id) === isPending);
  const left: Left[] = [
    { items: items(false), reason: 'the last attempt did not report (its function crashed or timed out)' },
    { items: items(true), reason: 'its job did not report by its deadline' },
  ];
  return { left: left.filter((each) => each.items.length > 0), pending, hasTaken: false, wasAnswered: false };
};
