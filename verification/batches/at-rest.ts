/**
 * Promises that must hold once a schedule has come to rest. Every sent task has ended or was refused. Every call
 * contained the tasks as they were sent, and every result is the downstream's answer. Without faults, every batch was
 * also on time and full. This file calls all judges of a schedule.
 */
import { type Batch, isFinished, membersOf } from '../../src/domain/batches/batch.ts';
import { operationFor, operationNamed } from '../../src/domain/config/resolved.ts';
import { type Answer, type CallItem, type ItemAnswer, isOutcome } from '../../src/domain/downstream/downstream.ts';
import { type BatchId, operationOf, parseCandidate, type TaskId } from '../../src/domain/ids.ts';
import { withId } from '../../src/domain/register/register-body.ts';
import { parseRegisterMessage } from '../../src/domain/register/register-message.ts';
import { isSameTask, runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import type { Tables } from '../../src/memory/tables.ts';
import { endedWaiting } from '../../src/steps/tasks/settle.ts';
import { demand } from '../../src/virtual/violation.ts';
import { checkAttempts } from './attempts.ts';
import { checkCaps } from './caps.ts';
import { bytesOf, type Evidence, isPayloadGone, sentPayloads, waitsOf } from './evidence.ts';
import { checkFannedOut } from './fanned-out.ts';
import { checkInTime } from './in-time.ts';
import { checkLargeAnswers } from './large-answers.ts';
import { checkLedInTime } from './led-in-time.ts';
import { checkLimits, checkWaits } from './limits.ts';
import { checkMerged, merges } from './merged.ts';
import { checkNotified } from './notified.ts';
import { checkPoison } from './poison.ts';
import { checkSettled } from './settled.ts';

/** @throws Violation */
export const checkAtRest = (evidence: Evidence): void => {
  demand(evidence.late.size === 0, 'every function ends before its timeout', [...evidence.late]);
  checkTables(evidence);
  checkSent(evidence);
  checkCalls(evidence);
  checkAttempts(evidence);
  checkOutcomes(evidence);
  checkRedrives(evidence);
  checkSettled(evidence);
  checkCaps(evidence);
  checkNotified(evidence);
  checkMerged(evidence);
  checkLargeAnswers(evidence);
  checkPoison(evidence);
  checkFannedOut(evidence);
  checkLimits(evidence);
  checkWaits(evidence);
  if (evidence.isCalm) checkInTime(evidence);
  checkLedInTime(evidence);
};

/** A redrive starts exactly one new run of a failed task, however often and however late the redrive is requested. */
const checkRedrives = ({ tables, redriven, refusedRedrives }: Evidence): void => {
  const asked = Map.groupBy(redriven, ({ id }) => id);
  for (const task of tables.tasks.values()) {
    const { id, run } = task;
    const runs = new Set(asked.get(id)?.map((each) => each.run));
    const refused = new Set(refusedRedrives.filter((each) => each.id === id).map((each) => each.run));
    const heeded = [...runs].filter((each) => !refused.has(each));
    demand(run > Math.max(0, ...heeded), 'a redrive starts a new run', { id, run });
    demand(runNumber(task) <= 1 + runs.size, 'a redrive starts at most one run', { id, run, asked: [...runs] });
  }
};

/**
 * Without the patrol, the waiting row of an ended task may be left: a register function was paused for long, wrote the
 * row and died. The row takes a place in the Target's next batch, and is deleted with that batch or by the patrol.
 */
const checkTables = ({ tables, patrolled, mayStopAmidWork, outlived }: Evidence): void => {
  for (const task of tables.tasks.values())
    demand(task.state.status === 'succeeded' || task.state.status === 'failed', 'every registered task ends', task);
  for (const [target, rows] of tables.waiting)
    demand((mayStopAmidWork && !patrolled) || rows.size === 0, 'no waiting row is left in the end', {
      target,
      rows: [...rows.keys()],
    });
  for (const [target, lock] of tables.locks)
    demand(lock.holder === undefined && lock.openBatch === undefined, 'no lock is held in the end', { target, lock });
  for (const batch of tables.batches.values()) checkBatch(tables, batch, outlived.has(batch.id));
};

const checkBatch = (tables: Tables, batch: Batch, isOutlived: boolean): void => {
  const since = waitsOf(tables, batch);
  if (!since.includes(undefined))
    demand(
      batch.oldestAt === Math.min(batch.createdAt, ...since.filter((at) => at !== undefined)),
      'a batch stores when its oldest task began to wait',
      { batch, since },
    );
  demand(isFinished(batch.status), 'every batch ends', batch);
  if (isOutlived) return;
  const dropped = new Set(batch.dropped);
  const members = batch.candidates.filter((candidate) => !dropped.has(candidate)).map(parseCandidate);
  const outcomes = members.map(({ id, run }) => {
    const task = tables.tasks.get(id);
    // If the task has a later run, this run has failed, because only failed tasks are redriven.
    if (task && task.run > run) return 'failed';
    return task && 'batchId' in task.state && task.state.batchId === batch.id ? task.state.status : undefined;
  });
  const count = (status: string): number => outcomes.filter((outcome) => outcome === status).length;
  const counts = { succeeded: count('succeeded'), failed: count('failed') };
  demand(counts.succeeded + counts.failed === outcomes.length, 'each member of a batch has ended in this batch', {
    batch,
    outcomes,
  });
  const isCounted = JSON.stringify(counts) === JSON.stringify(batch.counts);
  demand(isCounted, "a batch's counts match its members' results", { batch, counts });
  const { succeeded, failed } = counts;
  const status = failed === 0 ? 'succeeded' : succeeded === 0 ? 'failed' : 'partly-failed';
  demand(batch.status === status, "a batch's status matches its counts", batch);
};

/**
 * Every message became a task, repeats the message of a task, or is in the rejected queue. No task exists without a
 * message.
 */
const checkSent = ({ config, tables, sent, rejected, lost, mayLackOperation }: Evidence): void => {
  // A redriven dead letter is a new message with another message id and the same body, so bodies are compared too.
  const refused = new Set(rejected.flatMap(({ messageId, body }) => [messageId, body]));
  const known = new Set<TaskId>();
  for (const message of sent) {
    const parsed = parseRegisterMessage(config, message);
    const stored = parsed.ok ? tables.tasks.get(parsed.value.id) : undefined;
    const isTask = parsed.ok && stored !== undefined && isSameTask(stored, parsed.value);
    const isRefused = [message.messageId, message.body, withId(message.body, message.messageId)].some((each) =>
      refused.has(each),
    );
    if (parsed.ok) {
      known.add(parsed.value.id);
      const isLost = lost.has(message.body) || (mayLackOperation && isRefused);
      if (isLost) continue;
      demand(stored !== undefined, 'every sent task is registered', message);
    }
    demand(isTask !== isRefused, 'a message becomes a task or is refused, not both', message);
  }
  for (const id of tables.tasks.keys()) demand(known.has(id), 'every task was sent', id);
};

const checkCalls = (evidence: Evidence): void => {
  const { config, configs, tables, log, mayStopAmidWork, mayOverlap } = evidence;
  const payloads = sentPayloads(evidence);
  for (const { call } of log.calls) {
    const batch = tables.batches.get(call.batchId);
    const { maxBytes } = operationFor(config, operationOf(call.target)).batch;
    const formedBy = configs.recent((batch?.createdAt ?? 0) + CLOCK_SKEW);
    const sizes = formedBy.map((each) => operationNamed(each.config, operationOf(call.target))?.batch.maxSize ?? 0);
    const maxSize = Math.max(...sizes);
    const members = new Set(batch && membersOf(batch));
    const ids = call.items.map(({ id }) => id);
    demand(new Set(ids).size === ids.length, 'no item occurs twice in a call', call);
    demand(ids.length > 0 && ids.length <= maxSize, 'a call has at most maxSize items', call);
    demand(ids.length === 1 || bytesOf(call.items) <= maxBytes, 'a call has at most maxBytes bytes', call);
    demand(
      call.target === batch?.target && ids.every((id) => members.has(id)),
      'a call contains only members of its batch',
      call,
    );
    for (const { id, payload } of call.items)
      demand(payloads.get(id) === payload, 'the downstream receives each payload as it was sent', call);
  }
  for (const task of tables.tasks.values())
    demand(
      log.tried.has(task.id) ||
        endedWaiting(task) ||
        merges(config, task.operation) ||
        isPayloadGone(evidence, task) ||
        ((mayStopAmidWork || mayOverlap) && gaveUp(task)),
      'every task was included in a call',
      task,
    );
};

/** Every task has the result that the downstream answered, or failed after all attempts. */
const checkOutcomes = (evidence: Evidence): void => {
  const { config, tables, log } = evidence;
  const answers = new Map<string, string[]>();
  const keyOf = (batch: BatchId, id: TaskId): string => `${batch} ${id}`;
  const note = (batch: BatchId, outcomes: readonly (readonly [TaskId, unknown])[]): void => {
    for (const [id, outcome] of outcomes) {
      const key = keyOf(batch, id);
      answers.set(key, [...(answers.get(key) ?? []), JSON.stringify(outcome)]);
    }
  };
  for (const { call, answered } of log.calls)
    if (answered)
      note(call.batchId, outcomesOf(answered.answer, call.items, operationFor(config, call.operation).retry.bisect));
  for (const { batchId, items } of log.reports) {
    const members = membersOf(tables.batches.get(batchId) ?? { candidates: [], dropped: [] });
    note(batchId, items === 'all-succeeded' ? members.map((id) => [id, SUCCEEDED]) : resultsIn(items));
  }
  for (const task of tables.tasks.values()) {
    if (endedWaiting(task)) continue;
    // Merged tasks are judged by their inputs (merged.ts).
    if (merges(config, task.operation) || isPayloadGone(evidence, task)) continue;
    if (gaveUp(task)) {
      const { maxAttempts } = operationFor(config, task.operation).retry;
      const attempts = 'attempts' in task.state ? task.state.attempts : 0;
      demand(attempts === maxAttempts, 'a task fails as exhausted only after the last attempt', task);
    } else {
      const batchId = 'batchId' in task.state ? task.state.batchId : undefined;
      const answered = batchId && answers.get(keyOf(batchId, task.id));
      demand(answered?.includes(outcomeOf(task)) === true, "a task's result is the downstream's answer", task);
    }
  }
};

const SUCCEEDED = { status: 'succeeded' };
/** The message of this error is not compared, because its text is advice for people. */
const TOO_LARGE = 'answer-too-large';

/** The outcomes that follow from an answer, derived without the code under test. */
const outcomesOf = (
  answer: Answer,
  items: readonly CallItem[],
  bisect: boolean,
): readonly (readonly [TaskId, unknown])[] => {
  switch (answer.kind) {
    case 'all-succeeded':
      return items.map(({ id }) => [id, SUCCEEDED]);
    case 'refused': {
      const error =
        answer.suspect === 'its-answer'
          ? { code: TOO_LARGE, message: '', retriable: true }
          : { code: 'refused', message: answer.reason, retriable: false };
      // If the downstream refuses a call of several items, its answer does not say which item is at fault.
      return bisect && answer.suspect && items.length > 1
        ? []
        : items.map(({ id }) => [id, { status: 'failed', error }]);
    }
    case 'pending':
    case 'unavailable':
      return [];
    case 'results':
      return resultsIn(answer.items);
  }
};

const resultsIn = (items: ReadonlyMap<TaskId, ItemAnswer>): readonly (readonly [TaskId, unknown])[] =>
  [...items].filter(([, each]) => isOutcome(each));

const outcomeOf = ({ state }: Task): string => {
  if (state.status === 'failed') {
    const error = state.error.code === TOO_LARGE ? { ...state.error, message: '' } : state.error;
    return JSON.stringify({ status: state.status, error });
  }
  const result = state.status === 'succeeded' && state.result !== undefined ? { result: state.result } : {};
  return JSON.stringify({ status: state.status, ...result });
};

const gaveUp = ({ state }: Task): boolean => state.status === 'failed' && state.error.code === 'attempts-exhausted';
