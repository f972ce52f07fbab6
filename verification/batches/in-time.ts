/** What must hold in a schedule in which nothing goes wrong: everything is done in time, in batches that are full. */
import { type Batch, membersOf } from '../../src/domain/batches/batch.ts';
import { waitEnd } from '../../src/domain/batches/policy.ts';
import { type Operation, operationFor } from '../../src/domain/config/resolved.ts';
import { type Millis, operationOf, parseCandidate, type TaskId } from '../../src/domain/ids.ts';
import { runNumber } from '../../src/domain/tasks/task.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { PACE } from '../../src/steps/slots/wake.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { CallLog, LoggedCall } from './call-log.ts';
import { bytesOf, type Evidence, sentPayloads, waitsOf } from './evidence.ts';
import { checkRates } from './keeps-rate.ts';
import { checkPassed } from './passed.ts';
import { checkSweeps } from './sweeps.ts';

/** @throws Violation */
export const checkInTime = (evidence: Evidence): void => {
  const callsOf = Map.groupBy(evidence.log.calls, ({ call }) => call.batchId);
  for (const batch of evidence.tables.batches.values()) {
    checkSealed(evidence, batch);
    checkCalled(evidence, batch, callsOf.get(batch.id) ?? []);
  }
  checkRates(evidence);
  checkBytes(evidence);
  checkFlushes(evidence);
  checkExpiries(evidence);
  checkOrder(evidence);
  checkPassed(evidence);
  checkSweeps(evidence);
  const { idle, guards } = evidence.seen;
  demand(guards.most <= 2, 'a guard is in flight once, but for the moment in which it is sent again', guards);
  const { longest, longestForPaused, most } = idle;
  // Many are woken one after the other; messages may be as late as a second between two invocations.
  // A raised cap is found by the next sweep.
  const patience = evidence.slack + (2_000 * most) / PACE + (evidence.configs.change ? MINUTE : 0);
  demand(longest <= patience, 'nobody waits for room that is there', { longest, most });
  // A batch that its operation's pause holds looks at its Target once a minute, one that waits for its rate when its moment has come.
  const hasRate = evidence.configs.all.some(({ config }) => Object.values(config.operations).some(isRated));
  demand(hasRate || longestForPaused <= patience + 2 * MINUTE, 'a paused Target lends its slots to those that wait', {
    longestForPaused,
  });
};

const isRated = ({ rateLimit }: Operation): boolean => rateLimit !== null;

/** What may pass between a look at the rows and the write that follows from it. */
const MOMENT: Millis = 1_000;

const checkExpiries = ({ tables, waitFor, slack }: Evidence): void => {
  for (const { state, startBy, ...task } of tables.tasks.values()) {
    if (startBy === undefined) continue;
    const batch = 'batchId' in state && state.batchId !== undefined ? tables.batches.get(state.batchId) : undefined;
    if (batch) demand(batch.createdAt <= startBy + MOMENT, 'nothing is batched that has expired', { task, batch });
    else if (!waitFor.has(task.operation) && state.status === 'failed' && state.error.code === 'expired')
      demand(state.finishedAt <= startBy + slack, 'what expires ends about when it does', { task, state, startBy });
  }
};

/** Each in its turn, which is before its time for whoever is urgent, unless another one goes alone. */
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
      demand(isKept, 'nobody is overtaken by a task whose turn is later', { first, second });
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
  demand(mayWaitForSlot || sealedAt <= due + slack, 'no task waits for longer than maxWait', batch);
  if (sealedBy === 'waited' && known.length === since.length)
    demand(sealedAt >= due, 'a batch is not sealed before it is due', batch);
  if (sealedBy === 'full') demand(candidates.length === maxSize, 'a full batch is full', batch);
  // With batches this small every arrival looks whether it filled one.
  const newest = Math.max(...since.map((at) => at ?? Number.POSITIVE_INFINITY));
  if (sealedBy === 'quiet') {
    demand(
      known.length < since.length || sealedAt >= newest + quietPeriod,
      'a batch is quiet once nothing came for quietPeriod',
      { batch, newest },
    );
    demand(candidates.length >= minSize, 'a quiet batch has minSize', batch);
  }
  if (quietPeriod > 0 && minSize === 1 && !mayWaitForSlot)
    demand(sealedAt <= newest + quietPeriod + slack, 'a batch does not wait when its Target is quiet', {
      batch,
      newest,
    });
  if (sealedBy === 'bypass') demand(candidates.length === 1, 'a task that skips its window goes alone', batch);
  if (sealedBy === 'full' && maxSize <= 8 && !mayWaitForSlot)
    demand(sealedAt <= newest + slack, 'a full batch does not wait', { batch, newest });
};

/** Nobody asks about an item that has its result. @param calls about one batch, in their order */
const checkAskedOnce = (calls: readonly LoggedCall[]): void => {
  const ended = new Set<TaskId>();
  for (const { call, answered } of calls) {
    const again = call.items.filter(({ id }) => ended.has(id));
    demand(again.length === 0, 'nobody is called again about an item that has its result', { call, again });
    const { answer } = answered ?? {};
    // What is said of a merged job's inputs is no result of a request yet.
    if (call.inputs) continue;
    if (answer?.kind === 'all-succeeded') for (const { id } of call.items) ended.add(id);
    if (answer?.kind === 'results') for (const [id, { status }] of answer.items) if (status !== 'retry') ended.add(id);
  }
};

/** Called about as soon as it is sealed, and again when the pauses are over: those asked for, and our own. */
const checkCalled = (
  { config, configs, log, wasPaused, slack }: Evidence,
  batch: Batch,
  made: readonly LoggedCall[],
): void => {
  const { retry, circuit, rateLimit, downstream } = operationFor(config, batch.operation);
  const { minDelay, maxDelay } = retry;
  // It waits for others: until a pause is over, as long as a downstream is down, or as there are calls before it.
  if (wasPaused || circuit || rateLimit !== null || configs.change) return;
  const calls = made.toSorted((a, b) => a.at - b.at);
  const [first] = calls;
  const { sealedAt = Number.POSITIVE_INFINITY } = batch;
  if (first) demand(first.at <= sealedAt + slack, 'a batch is called about as soon as it is sealed', batch);
  checkAskedOnce(calls);
  checkEnded(log.reports, batch, calls, slack);
  for (const [index, next] of calls.slice(1).entries()) {
    const { call, answered } = calls[index] as LoggedCall;
    if (!answered) continue;
    const asked = answered.answer.kind === 'unavailable' ? (answered.answer.retryAfter ?? 0) : 0;
    const own = Math.min(maxDelay, minDelay * 2 ** (call.attempt - 1));
    const isLater = next.call.attempt > call.attempt;
    const pause = isLater ? asked + own : 0;
    // A job's deadline counts from the end of the attempt that began it, whose last call may be about others.
    const hasJobs = calls.slice(0, index + 1).some((each) => each.answered?.answer.kind === 'pending');
    const reports = isLater && hasJobs ? answered.at + downstream.deadline + own : 0;
    demand(
      next.at <= Math.max(answered.at + pause, reports) + slack,
      'a batch is tried again as soon as its pause is over',
      {
        call: next.call,
        pause,
      },
    );
  }
};

/** A job that has reported about each item needs nobody to wait for its deadline. @param calls about the batch */
const checkEnded = (reports: CallLog['reports'], batch: Batch, calls: readonly LoggedCall[], slack: Millis): void => {
  const own = reports.filter(({ batchId }) => batchId === batch.id);
  const reported = new Set(
    own.flatMap(({ items }) =>
      items === 'all-succeeded' ? [] : [...items].flatMap(([id, { status }]) => (status === 'retry' ? [] : [id])),
    ),
  );
  if (own.length === 0 || !membersOf(batch).every((id) => reported.has(id))) return;
  const last = Math.max(...own.map(({ at }) => at), ...calls.map(({ at, answered }) => answered?.at ?? at));
  const { finishedAt = Number.POSITIVE_INFINITY } = batch;
  demand(finishedAt <= last + slack, 'a batch ends once each of its members has its result', { batch, last });
};

/** A batch is closed for its bytes only where one more task would have been too much. */
const checkBytes = (evidence: Evidence): void => {
  const { config, tables } = evidence;
  const bytes = new Map([...sentPayloads(evidence)].map(([id, payload]) => [id, bytesOf([{ id, payload }])]));
  for (const batch of tables.batches.values()) {
    if (batch.sealedBy !== 'bytes') continue;
    const { maxBytes } = operationFor(config, batch.operation).batch;
    const ids = new Set(batch.candidates.map((candidate) => parseCandidate(candidate).id));
    const sum = [...ids].reduce((total, id) => total + (bytes.get(id) ?? 0), 0);
    // Which one was next is not to be seen any more; that one of them could have been is enough.
    const others = [...tables.tasks.values()].filter(({ id, target }) => target === batch.target && !ids.has(id));
    const largest = Math.max(0, ...others.map(({ id }) => bytes.get(id) ?? 0));
    demand(
      sum >= maxBytes || sum + largest > maxBytes,
      'a batch is closed for its bytes only when it is full of them',
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
      demand(sealedAt <= at + slack, 'what waited at a flush is sealed at once', { task, at, sealedAt });
    }
};
