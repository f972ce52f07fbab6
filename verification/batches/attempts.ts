/**
 * Promises about a batch's attempts. Their number is within the policy, and they do not overlap. A retry waits for the
 * pause that the downstream asks for. Attempts that must not count (throttled, or with results that could not be
 * stored) do not use up `retry.maxAttempts`.
 */
import type { Batch } from '../../src/domain/batches/batch.ts';
import { printBatch } from '../../src/domain/batches/messages.ts';
import { type Operation, operationFor } from '../../src/domain/config/resolved.ts';
import { type Answer, type Call, isOutcome } from '../../src/domain/downstream/downstream.ts';
import { parseCandidate, type TaskId } from '../../src/domain/ids.ts';
import { demand } from '../../src/virtual/violation.ts';
import type { LoggedCall } from './call-log.ts';
import { type Evidence, isPayloadGone } from './evidence.ts';
import { merges } from './merged.ts';

/** @throws Violation */
export const checkAttempts = (evidence: Evidence): void => {
  const { config, tables, log, mayOverlap, mayStopAmidWork, isPurged, skew } = evidence;
  const isUncut = !mayOverlap && !mayStopAmidWork;
  // After the last attempt, the handler reads whether a job has reported. That read also counts as a start, and may be
  // interrupted. A slow clock may read that the job's deadline is not over, so the read may happen twice.
  const looks = skew > 0 ? 2 : 1;
  const callsOf = Map.groupBy(log.calls, ({ call }) => call.batchId);
  for (const batch of tables.batches.values()) {
    const operation = operationFor(config, batch.operation);
    const { retry, keepTasks } = operation;
    const calls = (callsOf.get(batch.id) ?? []).toSorted((a, b) => a.at - b.at);
    const attempts = Map.groupBy(calls, ({ call }) => call.attempt);
    checkCalledOften(evidence, batch, operation, attempts);
    if (!mayOverlap && !isPurged) checkUncounted(evidence, batch, calls);
    if (isUncut) {
      checkThrottles(batch, attempts);
      checkThrottledAlone(evidence, batch, operation, attempts);
      demand(
        batch.countedAttempts <= retry.maxAttempts + looks,
        'at most maxAttempts attempts of a batch are counted',
        batch,
      );
    }
    const wasPending = calls.some(({ answered }) => answered?.answer.kind === 'pending');
    // A task whose payload has expired is not called again.
    const isLost = batch.candidates.some((each) => isPayloadGone(evidence, tables.tasks.get(parseCandidate(each).id)));
    if (isUncut && !isLost && !merges(config, batch.operation))
      demand(batch.attempt - attempts.size <= (wasPending ? looks : 0), 'every started attempt makes a call', {
        batch,
        called: attempts.size,
      });
    for (const [index, next] of calls.slice(1).entries()) {
      const { call, answered } = calls[index] as LoggedCall;
      if (!answered) continue;
      demand(mayOverlap || answered.at <= next.at, 'calls of one batch do not overlap', { call, next: next.call });
      const pause = answered.answer.kind === 'unavailable' ? (answered.answer.retryAfter ?? 0) : 0;
      const kept = Math.min(pause, keepTasks / retry.maxAttempts - retry.maxDelay);
      if (!mayOverlap && next.call.attempt > call.attempt)
        demand(next.at >= answered.at + kept - 2 * skew, 'a retry waits for the pause that the downstream asks for', {
          call,
          pause,
        });
    }
  }
};

/**
 * An attempt whose results could not be stored must not count: its tasks are called again although its function
 * received the answer and did not die. A timeout of the function is no excuse. The attempt counts in three cases.
 * First, the attempt could be marked only on a message, and another copy of the batch's message began the next attempt
 * first. Second, a report of an earlier job postponed the batch. Third, not even the message could be sent.
 */
const checkUncounted = (
  { died, late, unsent, received }: Evidence,
  batch: Batch,
  calls: readonly LoggedCall[],
): void => {
  const marked = (attempt: number): string =>
    printBatch({ kind: 'due', batchId: batch.id, uncounted: attempt }).slice(0, -1);
  const hasMark = (bodies: readonly string[], attempt: number): boolean =>
    bodies.some((body) => body === `${marked(attempt)}}` || body.startsWith(`${marked(attempt)},`));
  const isReported = [...received.values()].some((bodies) =>
    bodies.some((body) => body.startsWith(`{"batchId":${JSON.stringify(batch.id)}`)),
  );
  const lost = new Set(
    calls.flatMap(({ call, answered, by }) => {
      if (!answered || (died.has(by) && !late.has(by))) return [];
      const ended = new Set(endedIn(answered.answer, call));
      const later = calls.filter((each) => each.call.attempt > call.attempt);
      if (!later.some((each) => each.call.items.some(({ id }) => ended.has(id)))) return [];
      const isMarked = [...received.values()].some((bodies) => hasMark(bodies, call.attempt));
      const isFirstMarked = hasMark(received.get(later[0]?.by ?? '') ?? [], call.attempt);
      const isMarkLate = isMarked && (!isFirstMarked || isReported);
      return isMarkLate || (!isMarked && unsent.has(by)) ? [] : [call.attempt];
    }),
  );
  const { countedAttempts, attempt } = batch;
  demand(countedAttempts + lost.size <= attempt, 'an attempt whose results could not be stored does not count', {
    batch,
    lost: [...lost],
  });
};

/** The items that have a result after an answer. */
const endedIn = (answer: Answer, { inputs, items }: Call): readonly TaskId[] => {
  // An answer about the inputs of a merged job gives no result to any request yet.
  if (inputs) return [];
  if (answer.kind === 'all-succeeded') return items.map(({ id }) => id);
  if (answer.kind !== 'results') return [];
  return [...answer.items].filter(([, each]) => isOutcome(each)).map(([id]) => id);
};

const isThrottled = ({ answered }: LoggedCall): boolean =>
  answered?.answer.kind === 'unavailable' && answered.answer.throttled === true;

/** The items that a call throttled one by one. */
const throttledAlone = ({ answered }: LoggedCall): readonly TaskId[] =>
  answered?.answer.kind === 'results'
    ? [...answered.answer.items].flatMap(([id, { status }]) => (status === 'throttled' ? [id] : []))
    : [];

/** An attempt that throttled an item uses no attempt of that item, even if it counts for the others. */
const checkThrottledAlone = (
  { tables }: Evidence,
  batch: Batch,
  { retry }: Operation,
  attempts: ReadonlyMap<number, readonly LoggedCall[]>,
): void => {
  for (const id of new Set([...attempts.values()].flatMap((calls) => calls.flatMap(throttledAlone)))) {
    const state = tables.tasks.get(id)?.state;
    if (state?.status !== 'failed' || state.error.code !== 'attempts-exhausted' || state.batchId !== batch.id) continue;
    const spared = [...attempts.values()].filter((calls) => {
      const last = calls.findLast(({ call }) => call.items.some((item) => item.id === id));
      return last !== undefined && throttledAlone(last).includes(id);
    });
    demand(batch.attempt - spared.length >= retry.maxAttempts, 'an item that is throttled alone uses no attempt', {
      id,
      batch,
      spared: spared.length,
    });
  }
};

/**
 * An attempt does not count in four cases: the circuit was open at its end; it was throttled; it was cut short after
 * progress; or its function did not die and could not store the results.
 */
const checkCalledOften = (
  { hindered }: Evidence,
  batch: Batch,
  { retry, circuit }: Operation,
  attempts: ReadonlyMap<number, readonly LoggedCall[]>,
): void => {
  const { maxAttempts, immediate } = retry;
  const mayIsolate = retry.isolate && batch.candidates.length > 1;
  // H8. A batch whose attempts are used up may get further ones, in parts.
  const levels = Math.ceil(Math.log2(batch.candidates.length));
  const most = mayIsolate ? 2 * maxAttempts + 2 * levels : maxAttempts;
  const lastAttempts = new Map(
    [...attempts].flatMap(([n, calls]) => calls.flatMap(({ call }) => call.items.map(({ id }) => [id, n]))),
  );
  let wasHalved = false;
  let counted = 0;
  const own = new Map<TaskId, number>();
  for (const [attempt, calls] of attempts) {
    const sizes = calls.map(({ call }) => call.items.length);
    wasHalved ||= calls.some(({ answered }) => answered?.answer.kind === 'refused' && answered.answer.suspect);
    const hadNoResult = calls.every(({ answered }) => !answered || answered.answer.kind === 'unavailable');
    const isHindered = calls.some(({ by }) => hindered.has(by));
    const mayCount = !isHindered && (!hadNoResult || !(circuit || calls.some(isThrottled)));
    const spares = new Set(calls.flatMap(throttledAlone));
    const isCounted = !(wasHalved && retry.bisect) && mayCount;
    if (isCounted && spares.size === 0) counted += 1;
    // O5. If items are throttled, each item has attempts of its own.
    const called = new Set(calls.flatMap(({ call }) => call.items.map(({ id }) => id)));
    for (const id of isCounted ? called : []) if (!spares.has(id)) own.set(id, (own.get(id) ?? 0) + 1);
    // H8. A result while tasks at fault are isolated leaves the others all attempts but one. A task that was called alone
    // for the last time has failed.
    const hasFailed = calls.some(({ call }) => {
      const [first, other] = call.items;
      return first && !other && lastAttempts.get(first.id) === attempt;
    });
    if (mayIsolate && (!hadNoResult || hasFailed)) {
      counted = Math.min(counted, 1);
      for (const [id, times] of own) own.set(id, Math.min(times, 1));
    }
    const deep = wasHalved && retry.bisect ? 2 + Math.ceil(Math.log2(Math.max(...sizes))) : 1;
    const asked = Map.groupBy(
      calls.flatMap(({ call }) => call.items),
      ({ id }) => id,
    );
    for (const [id, times] of asked)
      demand(times.length <= deep * (1 + immediate), 'an attempt repeats a call no more often than its policy allows', {
        id,
        batch,
        times: times.length,
      });
  }
  demand(counted <= most, 'a batch has at most maxAttempts attempts', batch);
  // A pending item may get further attempts, if it has used more of them than the open items.
  const isPending = ({ answered }: LoggedCall) => answered?.answer.kind === 'pending';
  const hadJobs = [...attempts.values()].some((calls) => calls.some(isPending));
  for (const [id, times] of hadJobs ? [] : own)
    demand(times <= most, 'an item has at most maxAttempts attempts of its own', { id, times, batch });
};

/** The tasks do not cause throttling, so a throttled attempt must not count. */
const checkThrottles = (
  { countedAttempts, attempt }: Batch,
  attempts: ReadonlyMap<number, readonly LoggedCall[]>,
): void => {
  const throttled = [...attempts.values()].filter((calls) => calls.every(isThrottled)).length;
  demand(countedAttempts + throttled <= attempt, 'a throttled attempt does not count', {
    countedAttempts,
    attempt,
    throttled,
  });
};
