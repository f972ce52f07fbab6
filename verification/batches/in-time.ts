/**
 * Promises about time and about the content of batches. They hold only in schedules without faults, because every fault
 * may delay a step.
 */
import { type Batch, membersOf } from '../../src/domain/batches/batch.ts';
import { waitEnd } from '../../src/domain/batches/policy.ts';
import { operationFor } from '../../src/domain/config/resolved.ts';
import { isOutcome } from '../../src/domain/downstream/downstream.ts';
import { type Millis, operationOf, parseCandidate, type TaskId } from '../../src/domain/ids.ts';
import { isLimited } from '../../src/domain/limits/limits.ts';
import { runNumber } from '../../src/domain/tasks/task.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { PACE } from '../../src/steps/slots/wake.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { bytesOf, type Evidence, sentPayloads, waitsOf } from './evidence.ts';
import { longestGap } from './limits.ts';
import { checkStarvation } from './starvation.ts';
import { checkSweeps } from './sweeps.ts';

/** @throws Violation */
export const checkInTime = (evidence: Evidence): void => {
  const callsOf = Map.groupBy(evidence.log.calls, ({ call }) => call.batchId);
  for (const batch of evidence.tables.batches.values()) {
    checkSealed(evidence, batch);
    checkCalled(evidence, batch, callsOf.get(batch.id) ?? []);
  }
  checkBytes(evidence);
  checkFlushes(evidence);
  checkExpiries(evidence);
  checkOrder(evidence);
  checkStarvation(evidence);
  checkSweeps(evidence);
  const { idle, guards } = evidence.seen;
  demand(guards.most <= 2, 'at most two copies of a guard are in flight', guards);
  const { longest, longestForPaused, most } = idle;
  // Targets are woken one after another, and a message may be a second late between two invocations. A raised cap is
  // detected by the next sweep.
  const underLimits = (most + 1) * longestGap(evidence);
  const patience = evidence.slack + (2_000 * most) / PACE + (evidence.configs.change ? MINUTE : 0) + underLimits;
  demand(longest <= patience, 'no Target waits although a slot is free', { longest, most });
  // A batch that waits for the end of its operation's pause checks its Target once a minute. A batch that waits under a
  // limit checks its Target at its moment.
  const hasLimits = evidence.configs.all.some(({ config }) => Object.values(config.operations).some(isLimited));
  demand(hasLimits || longestForPaused <= patience + 2 * MINUTE, 'a paused Target gives its slots to waiting Targets', {
    longestForPaused,
  });
};

/** The longest time between a read of the waiting rows and the write that depends on the read. */
const MOMENT: Millis = 1_000;

const checkExpiries = ({ tables, waitFor, slack }: Evidence): void => {
  for (const { state, startBy, ...task } of tables.tasks.values()) {
    if (startBy === undefined) continue;
    const batch = 'batchId' in state && state.batchId !== undefined ? tables.batches.get(state.batchId) : undefined;
    if (batch) demand(batch.createdAt <= startBy + MOMENT, 'no expired task is put into a batch', { task, batch });
    else if (!waitFor.has(task.operation) && state.status === 'failed' && state.error.code === 'expired')
      demand(state.finishedAt <= startBy + slack, 'an expired task ends soon after its deadline', {
        task,
        state,
        startBy,
      });
  }
};

/**
 * Tasks are batched by `createdAt` minus the time that their priority is worth. A task that bypasses its window does
 * not count.
 */
const checkOrder = ({ config, tables }: Evidence): void => {
  const batched = [...tables.tasks.values()].flatMap((task) => {
    const { id, operation, state, target, createdAt, priority = 0 } = task;
    const batch = 'batchId' in state && state.batchId !== undefined ? tables.batches.get(state.batchId) : undefined;
    const { maxWait } = operationFor(config, operation).batch;
    const turn = createdAt - priority * Math.max(maxWait, 1_000);
    return batch && runNumber(task) === 1 ? [{ id, target, createdAt, turn, batch }] : [];
  });
  const ofTarget = Map.groupBy(batched, ({ target }) => target);
  for (const first of batched)
    for (const second of ofTarget.get(first.target) ?? []) {
      const isBefore =
        first.turn < second.turn &&
        first.createdAt + MOMENT < second.batch.createdAt &&
        second.batch.sealedBy !== 'bypass';
      if (!isBefore) continue;
      const isKept = first.batch.createdAt <= second.batch.createdAt;
      demand(isKept, 'tasks of a Target are batched in order of priority and age', { first, second });
    }
};

const checkSealed = ({ config, tables, waitFor, slack }: Evidence, batch: Batch): void => {
  const mayWaitForSlot = waitFor.has(batch.operation);
  const policy = operationFor(config, batch.operation).batch;
  const { maxSize, minSize, quietPeriod } = policy;
  const { sealedAt = Number.POSITIVE_INFINITY, sealedBy, candidates } = batch;
  const since = waitsOf(tables, batch);
  const known = since.filter((at) => at !== undefined);
  const due = waitEnd(Math.min(...known), policy);
  demand(mayWaitForSlot || sealedAt <= due + slack, 'no task waits longer than maxWait', batch);
  if (sealedBy === 'waited' && known.length === since.length)
    demand(sealedAt >= due, 'a batch is not sealed before it is due', batch);
  if (sealedBy === 'full') demand(candidates.length === maxSize, 'a batch sealed as full has maxSize tasks', batch);
  // Every registration checks whether it filled a batch only if batches are small.
  const newest = Math.max(...since.map((at) => at ?? Number.POSITIVE_INFINITY));
  if (sealedBy === 'quiet') {
    demand(
      known.length < since.length || sealedAt >= newest + quietPeriod,
      'a batch is sealed as quiet only after quietPeriod without a new task',
      { batch, newest },
    );
    demand(candidates.length >= minSize, 'a batch sealed as quiet has at least minSize tasks', batch);
  }
  if (quietPeriod > 0 && minSize === 1 && !mayWaitForSlot)
    demand(sealedAt <= newest + quietPeriod + slack, 'a batch is sealed soon after quietPeriod without a new task', {
      batch,
      newest,
    });
  if (sealedBy === 'bypass')
    demand(candidates.length === 1, 'a task that bypasses its window is alone in its batch', batch);
  if (sealedBy === 'full' && maxSize <= 8 && !mayWaitForSlot)
    demand(sealedAt <= newest + slack, 'a full batch is sealed at once', { batch, newest });
};

/** An item with a result is not called again. @param calls the calls of one batch, in their order */
const checkAskedOnce = (calls: readonly LoggedCall[]): void => {
  const ended = new Set<TaskId>();
  for (const { call, answered } of calls) {
    const again = call.items.filter(({ id }) => ended.has(id));
    demand(again.length === 0, 'an item that has its result is not called again', { call, again });
    const { answer } = answered ?? {};
    // A result of a merged job's inputs gives no result to any request yet.
    if (call.inputs) continue;
    if (answer?.kind === 'all-succeeded') for (const { id } of call.items) ended.add(id);
    if (answer?.kind === 'results') for (const [id, each] of answer.items) if (isOutcome(each)) ended.add(id);
  }
};

/**
 * A batch is called as soon as it is sealed. It is called again when the pause is over that the downstream asks for, or
 * the pause of the policy.
 */
const checkCalled = (
  { config, configs, log, wasPaused, slack }: Evidence,
  batch: Batch,
  made: readonly LoggedCall[],
): void => {
  const operation = operationFor(config, batch.operation);
  const { retry, circuit, downstream } = operation;
  const { minDelay, maxDelay } = retry;
  // In these cases a batch may wait: for the end of a pause, for the downstream to recover, or for earlier calls.
  if (wasPaused || circuit || isLimited(operation) || configs.change) return;
  const calls = made.toSorted((a, b) => a.at - b.at);
  const [first] = calls;
  const { sealedAt = Number.POSITIVE_INFINITY } = batch;
  if (first) demand(first.at <= sealedAt + slack, 'a sealed batch is called at once', batch);
  checkAskedOnce(calls);
  checkEnded(log.reports, batch, calls, slack);
  for (const [index, next] of calls.slice(1).entries()) {
    const { call, answered } = calls[index] as LoggedCall;
    if (!answered) continue;
    const asked = answered.answer.kind === 'unavailable' ? (answered.answer.retryAfter ?? 0) : 0;
    const own = Math.min(maxDelay, minDelay * 2 ** (call.attempt - 1));
    const isLater = next.call.attempt > call.attempt;
    const pause = isLater ? asked + own : 0;
    // A job's deadline counts from the end of the attempt that began the job. The last call of that attempt may contain
    // other tasks.
    const hasJobs = calls.slice(0, index + 1).some((each) => each.answered?.answer.kind === 'pending');
    const reports = isLater && hasJobs ? answered.at + downstream.deadline + own : 0;
    demand(
      next.at <= Math.max(answered.at + pause, reports) + slack,
      'a batch is retried as soon as its pause is over',
      {
        call: next.call,
        pause,
      },
    );
  }
};

/**
 * Once jobs have reported every item, the batch must not wait for the jobs' deadline.
 * @param calls the calls of the batch
 */
const checkEnded = (reports: CallLog['reports'], batch: Batch, calls: readonly LoggedCall[], slack: Millis): void => {
  const own = reports.filter(({ batchId }) => batchId === batch.id);
  const reported = new Set(
    own.flatMap(({ items }) =>
      items === 'all-succeeded' ? [] : [...items].flatMap(([id, each]) => (isOutcome(each) ? [id] : [])),
    ),
  );
  if (own.length === 0 || !membersOf(batch).every((id) => reported.has(id))) return;
  const last = Math.max(...own.map(({ at }) => at), ...calls.map(({ at, answered }) => answered?.at ?? at));
  const { finishedAt = Number.POSITIVE_INFINITY } = batch;
  demand(finishedAt <= last + slack, 'a batch ends as soon as each member has its result', { batch, last });
};

/** A batch is sealed for its bytes only if one more task would exceed `maxBytes`. */
const checkBytes = (evidence: Evidence): void => {
  const { config, tables } = evidence;
  const bytes = new Map([...sentPayloads(evidence)].map(([id, payload]) => [id, bytesOf([{ id, payload }])]));
  for (const batch of tables.batches.values()) {
    if (batch.sealedBy !== 'bytes') continue;
    const { maxBytes } = operationFor(config, batch.operation).batch;
    const ids = new Set(batch.candidates.map((candidate) => parseCandidate(candidate).id));
    const sum = [...ids].reduce((total, id) => total + (bytes.get(id) ?? 0), 0);
    // The evidence does not show which task was next. It suffices that one of the other tasks would exceed the limit.
    const others = [...tables.tasks.values()].filter(({ id, target }) => target === batch.target && !ids.has(id));
    const largest = Math.max(0, ...others.map(({ id }) => bytes.get(id) ?? 0));
    demand(
      sum >= maxBytes || sum + largest > maxBytes,
      'a batch is sealed for its bytes only if one more task would exceed maxBytes',
      {
        batch,
        sum,
        largest,
      },
    );
  }
};

const checkFlushes = ({ tables, flushes, waitFor, slack }: Evidence): void => {
  for (const { target, at } of flushes.filter((each) => !waitFor.has(operationOf(each.target))))
    for (const { state, ...task } of tables.tasks.values()) {
      if (task.target !== target || (task.redrivenAt ?? task.createdAt) > at || !('batchId' in state)) continue;
      const { sealedAt = Number.POSITIVE_INFINITY } = tables.batches.get(state.batchId) ?? {};
      demand(sealedAt <= at + slack, 'a flush seals all waiting tasks at once', { task, at, sealedAt });
    }
};
