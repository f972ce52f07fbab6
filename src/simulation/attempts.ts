/** What must hold of a batch's attempts: as many as the policy allows, one after the other, with the pauses asked for. */
import type { Batch } from '../batching/batch.ts';
import { type Operation, operationFor } from '../config/resolved.ts';
import type { Evidence } from './evidence.ts';
import { merges } from './merged.ts';
import type { LoggedCall } from './simulated-downstream.ts';
import { demand } from './violation.ts';

/** @throws Violation */
export const checkAttempts = ({ config, tables, log, mayOverlap, mayStopAmidWork, skew }: Evidence): void => {
  const isUncut = !mayOverlap && !mayStopAmidWork;
  for (const batch of tables.batches.values()) {
    const operation = operationFor(config, batch.operation);
    const { retry, keepTasks } = operation;
    const calls = log.calls.filter(({ call }) => call.batchId === batch.id).toSorted((a, b) => a.at - b.at);
    const attempts = Map.groupBy(calls, ({ call }) => call.attempt);
    checkCalledOften(batch, operation, attempts);
    if (isUncut) {
      checkThrottles(batch, attempts);
      // The look after the last attempt is a start too, and may itself stop.
      demand(batch.tries <= retry.maxAttempts + 1, 'no more than maxAttempts are counted', batch);
    }
    const wasPending = calls.some(({ answered }) => answered?.answer.kind === 'pending');
    // Whose job did not report by the last deadline gets no other call.
    if (isUncut && !merges(config, batch.operation))
      demand(batch.attempt - attempts.size <= (wasPending ? 1 : 0), 'every attempt that was started was made', {
        batch,
        called: attempts.size,
      });
    for (const [index, next] of calls.slice(1).entries()) {
      const { call, answered } = calls[index] as LoggedCall;
      if (!answered) continue;
      demand(mayOverlap || answered.at <= next.at, 'calls about one batch do not overlap', { call, next: next.call });
      const pause = answered.answer.kind === 'unavailable' ? (answered.answer.retryAfter ?? 0) : 0;
      const kept = Math.min(pause, keepTasks / retry.maxAttempts - retry.maxDelay);
      if (!mayOverlap && next.call.attempt > call.attempt)
        demand(next.at >= answered.at + kept - 2 * skew, 'a pause that was asked for is kept', { call, pause });
    }
  }
};

const isThrottled = ({ answered }: LoggedCall): boolean =>
  answered?.answer.kind === 'unavailable' && answered.answer.throttled === true;

/**
 * An attempt counts unless a circuit was open at its end, it was refused for too many calls, or it had brought the batch
 * further when it was cut short.
 */
const checkCalledOften = (
  batch: Batch,
  { retry, circuit }: Operation,
  attempts: ReadonlyMap<number, readonly LoggedCall[]>,
): void => {
  const { maxAttempts, immediate } = retry;
  let wasHalved = false;
  let counted = 0;
  for (const calls of attempts.values()) {
    const sizes = calls.map(({ call }) => call.items.length);
    wasHalved ||= calls.some(({ answered }) => answered?.answer.kind === 'refused' && answered.answer.suspect);
    const cameToNothing = calls.every(({ answered }) => !answered || answered.answer.kind === 'unavailable');
    const mayCount = !cameToNothing || !(circuit || calls.some(isThrottled));
    if (!(wasHalved && retry.bisect) && mayCount) counted += 1;
    const levels = wasHalved && retry.bisect ? 2 + Math.ceil(Math.log2(Math.max(...sizes))) : 1;
    const asked = Map.groupBy(
      calls.flatMap(({ call }) => call.items),
      ({ id }) => id,
    );
    for (const [id, times] of asked)
      demand(times.length <= levels * (1 + immediate), 'an attempt repeats its call as often as it may', {
        id,
        batch,
        times: times.length,
      });
  }
  demand(counted <= maxAttempts, 'a batch has at most maxAttempts attempts', batch);
};

/** That a call came too often is nobody's fault. */
const checkThrottles = ({ tries, attempt }: Batch, attempts: ReadonlyMap<number, readonly LoggedCall[]>): void => {
  const throttled = [...attempts.values()].filter((calls) => calls.every(isThrottled)).length;
  demand(tries + throttled <= attempt, 'an attempt that was refused for too many calls uses no try', {
    tries,
    attempt,
    throttled,
  });
};
