/**
 * Handle a batch: call downstream and give every member its result (rules H1 to H7).
 *
 * Attempts are numbered; only the one whose number the batch shows may postpone or finish it, so that a handler which
 * was paused for too long changes nothing but results that are still missing.
 */

import { type Batch, isFinished, unfinishedOf } from '../../domain/batches/batch.ts';
import type { Members } from '../../domain/batches/members.ts';
import type { BatchMessage, DueMessage } from '../../domain/batches/messages.ts';
import { handlerTimeout, type Operation, operationFor } from '../../domain/config/resolved.ts';
import { failAll } from '../../domain/downstream/verdict.ts';
import { type Millis, operationOf } from '../../domain/ids.ts';
import { type OperationState, pauseNow } from '../../domain/operations/slots.ts';
import type { TaskError } from '../../domain/tasks/task.ts';
import { CLOCK_SKEW, delayPast, MINUTE, SECOND } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import { type Next, OutOfTime, untilDone } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { ensureSlot, lendSlot, releaseSlotsAgain } from '../slots/batch-slot.ts';
import { wakeForFreeSlot, wakeUnlessPaused } from '../slots/wake.ts';
import { callInParts, openFor, spareTime } from './attempt.ts';
import { completeBatch } from './complete-batch.ts';
import { endAttempt } from './end-attempt.ts';
import { hold, isFirstLook, lookLater } from './hold.ts';
import { comeBackUncounted, patient, takesPlace } from './not-stored.ts';
import { isItsMoment } from './reserve-call.ts';
import { type Attempt, type Left, type Rest, Tally } from './tally.ts';

export const handleBatch = (deps: CallDeps, message: BatchMessage, delivery: Delivery): Promise<void> =>
  message.kind === 'completion'
    ? completeBatch(deps, message, delivery)
    : untilDone(`batch ${message.batchId}`, delivery, () => takeTurn(deps, message, delivery));

/** Only a sealed batch has members. Its message is sent after the seal; one that is early has to wait. */
export class NotSealed extends Error {
  override readonly name = 'NotSealed';
}

/** H1. */
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
  if (batch.status === 'forming') throw new NotSealed(`batch ${batchId} is not sealed yet; its message comes back`);
  // The mark of an earlier attempt says nothing any more, and must not outlive the one of this attempt (hold.ts).
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
    if (lock.paused) await lendSlot(deps, batch, state, lock.paused, isFirstLook(message, now));
    if (!message.woken) return hold(deps, message, batch, operation, pause);
    await wakeUnlessPaused(deps, batch.operation);
    return 'end';
  }
  const slot = await ensureSlot(deps, batch, state);
  if (slot === 'held' && message.woken) await wakeUnlessPaused(deps, batch.operation);
  if (slot === 'none') return awaitSlot(deps, message, batch);
  // It may have had one already, on a page that its row does not name. Then the slot that the signal is about is still free.
  if (slot === 'taken' && message.woken) await wakeForFreeSlot(deps, batch.operation);
  const isFree = takesPlace(batch, message.uncounted);
  const countedAttempts = batch.countedAttempts + (isFree ? 0 : 1);
  if (
    countedAttempts <= operation.retry.maxAttempts &&
    !(await isItsMoment(deps, message, batch, operation, state, delivery))
  )
    return 'end';
  return start(deps, batch, operation, state, { countedAttempts, isFree }, delivery);
};

const withoutMark = ({ uncounted: _, ...message }: DueMessage): DueMessage => message;

/**
 * A freed slot sends the batch a message (`woken`). The batch also looks each minute by a message of its own, since the signal may be
 * lost. Only that one is sent again: if `woken` messages were, too, each that finds no slot would add a message.
 */
const awaitSlot = async (deps: CallDeps, message: DueMessage, batch: Batch): Promise<Next> => {
  if (!message.woken) await lookLater(deps, message, batch, MINUTE / SECOND);
  deps.report({ event: 'blocked', operation: batch.operation, target: batch.target });
  return 'end';
};

/** How an attempt counts. */
interface Count {
  /** The attempts that count, this one included. */
  readonly countedAttempts: number;
  /** Whether it takes the place of one that does not count. */
  readonly isFree: boolean;
}

/**
 * H2, after H3: every attempt that starts counts, and one that could not know its operation or read its tasks should not.
 * What a paused handler writes in between costs an item that is asked about twice, as it would later.
 */
const start = async (
  deps: CallDeps,
  batch: Batch,
  operation: Operation,
  state: OperationState,
  { countedAttempts, isFree }: Count,
  invocation: Delivery,
): Promise<Next> => {
  const { batches, machine, config, tasks } = deps;
  const members = await loadMembers(deps, batch);
  const [first] = members.open;
  // Nor may the one before have had its results stored whose function was ended amid that: `startedBy` shows it.
  if (first && (isFree || batch.uncounted || batch.startedBy)) await tasks.touch(first.id, batch.id);
  if (spareTime(operation, invocation) < 0) throw new OutOfTime(`no time left to call about batch ${batch.id}`);
  const [attempt, token, at] = [batch.attempt + 1, machine.token(), machine.now()];
  const uncounted = isFree ? (batch.uncounted ?? 0) + 1 : undefined;
  const runUntil = at + handlerTimeout(config) + 2 * CLOCK_SKEW;
  // Refused, perhaps by ourselves: a client that repeats a request whose answer was lost finds its own write.
  const isMine =
    (await batches.start(batch.id, { attempt, countedAttempts, uncounted, token, at, runUntil })) ||
    (await batches.get(batch.id))?.startedBy === token;
  if (!isMine) return 'again';
  const begun = uncounted === undefined ? batch : { ...batch, uncounted };
  const run: Attempt = {
    batch: begun,
    operation,
    members,
    state,
    attempt,
    countedAttempts,
    invocation,
    asked: { pause: 0 },
  };
  return runAttempt(patient(deps, invocation), run).catch((cause) => {
    if (cause instanceof OutOfTime) throw cause;
    return comeBackUncounted(deps, run, cause);
  });
};

/**
 * H3. No member has ended before the first attempt, which starts only if it still is the first then. So whoever shows the
 * batch at a glance is open, however far behind that is; all others are read consistently.
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

/** H4 to H7. */
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
  message: 'its payload is not stored any more: send the task again under another id',
  retriable: false,
};

/** What is left of a batch that has had all its attempts. */
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
