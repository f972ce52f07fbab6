/**
 * Completes a batch whose downstream reports later (J1). The downstream sends the results of the batch's items in one
 * message or in several, and may repeat a message. Results are written before the batch is postponed or finished, so a
 * repeated message does only what is left. The sender is outside Groupage, so an invalid message goes to the rejected
 * queue.
 */

import { type Batch, isFinished, lastAttempt, membersOf, unfinishedOf } from '../../domain/batches/batch.ts';
import { lastCalls } from '../../domain/batches/call-record.ts';
import type { Members, OpenTask } from '../../domain/batches/members.ts';
import { type CompletionMessage, printBatch } from '../../domain/batches/messages.ts';
import { mostUsed, storedAs, usedBy } from '../../domain/batches/sparing.ts';
import { RESULTS_RULE, requiresResults } from '../../domain/config/endpoints.ts';
import { operationFor } from '../../domain/config/resolved.ts';
import { type Answer, type ItemAnswer, whyOf } from '../../domain/downstream/downstream.ts';
import { HINT } from '../../domain/downstream/foreign-shape.ts';
import { readResultList } from '../../domain/downstream/http-answer.ts';
import { retryDelay } from '../../domain/downstream/retry.ts';
import { verdictOf } from '../../domain/downstream/verdict.ts';
import type { TaskId } from '../../domain/ids.ts';
import { hasEnded } from '../../domain/tasks/task.ts';
import { delayPast } from '../../domain/timings.ts';
import type { Delivery } from '../../ports/machine.ts';
import { parseJson } from '../../util/json-text.ts';
import type { Problem } from '../../util/problems.ts';
import { type Next, untilDone } from '../contention.ts';
import type { CallDeps } from '../deps.ts';
import { releaseSlotsAgain } from '../slots/batch-slot.ts';
import { reportForeign } from './answers.ts';
import { comeBack, finish, giveUp, only } from './end-attempt.ts';
import { settleLeases } from './moments.ts';
import { type Attempt, type Left, Tally } from './tally.ts';

/**
 * First delay, in seconds, of a report that arrives before the call that started the job is answered. The delay doubles
 * each time.
 */
const UNTIL_ANSWERED = 5;

export const completeBatch = (deps: CallDeps, message: CompletionMessage, delivery: Delivery): Promise<void> =>
  untilDone(`the results of batch ${message.batchId}`, delivery, () => takeTurn(deps, message, delivery));

const takeTurn = async (deps: CallDeps, message: CompletionMessage, delivery: Delivery): Promise<Next> => {
  const { batches, machine } = deps;
  const batch = await batches.get(message.batchId);
  if (!batch) return reject(deps, message, delivery, { path: 'batchId', reason: 'names no batch that is stored' });
  if (isFinished(batch.status)) {
    await releaseSlotsAgain(deps, batch);
    return 'end';
  }
  if (batch.status !== 'in-progress')
    return reject(deps, message, delivery, {
      path: 'batchId',
      reason: 'names a batch that has not been called yet',
    });
  const isRunning = batch.startedBy !== undefined && batch.runUntil >= machine.now();
  // The items of the job are only known after its call is answered.
  if (message.results === null && isRunning) return awaitAttempt(deps, message, batch);
  const answer = answerOf(batch, message, requiresResults(operationFor(deps.config, batch.operation).downstream));
  if (!('kind' in answer)) return reject(deps, message, delivery, answer);
  return record(deps, message, batch, answer, isRunning);
};

/**
 * Sends the message again with a delay, because the attempt under way must end first. The delays grow, because SQS may
 * deliver a message twice and each delivery would send another message.
 */
const awaitAttempt = async (
  { queues, machine }: CallDeps,
  message: CompletionMessage,
  { runUntil }: Batch,
): Promise<Next> => {
  const { early = 0 } = message;
  await queues.batch(
    { ...message, early: early + 1 },
    Math.min(UNTIL_ANSWERED * 2 ** early, delayPast(runUntil, machine.now())),
  );
  return 'end';
};

/** The results in the message, or what is wrong with it. */
const answerOf = (
  batch: Batch,
  { results, inputs, withoutResults }: CompletionMessage,
  mustHaveResults: boolean,
): Said | Problem => {
  const { pending } = batch;
  if (inputs !== undefined) {
    const list = parseJson(inputs);
    if (!list.ok || !Array.isArray(list.value)) return { path: 'inputs', reason: 'must be a list of results' };
    return pending ? { kind: 'all-succeeded', inputs } : NOT_PENDING;
  }
  if (results !== null) {
    const list = readResultList(
      results,
      membersOf(batch).map((id) => ({ id })),
    );
    if (list && withoutResults && mustHaveResults)
      return { kind: 'results', ...list, items: new Map([...list.items.keys()].map((id) => [id, NO_RESULTS])) };
    return list ? { kind: 'results', ...list } : { path: 'results', reason: 'must be a list of results' };
  }
  if (mustHaveResults) return { path: 'results', reason: RESULTS_RULE };
  return pending ? { kind: 'all-succeeded' } : NOT_PENDING;
};

const NO_RESULTS: ItemAnswer = {
  status: 'retry',
  reason: `its execution succeeded without results, which downstream.requireResults demands: ${HINT}`,
};

/**
 * The problem of an item for which no report is expected, for example because the job's deadline passed and another
 * call included the item.
 */
const NOT_PENDING: Problem = {
  path: 'results',
  reason: 'must list a result for each task: no job of this batch is expected to report now',
};

type Results = Extract<Answer, { kind: 'results' }>;
/** A report about single items, about inputs, or about all items of a job. */
type Said = Results | Extract<Answer, { kind: 'all-succeeded' }>;

/** The result for each item. For a merged job, the merging downstream computes the results from the inputs. */
const meaningOf = async ({ downstreamOf }: CallDeps, batch: Batch, { open }: Members, said: Said): Promise<Results> => {
  const { id: batchId, target, operation, pending } = batch;
  // The report's requests. The batch's other requests may belong to another job or to none. A report about a whole job
  // covers all requests that were pending.
  const had = new Set(said.kind === 'results' ? said.items.keys() : pending?.ids);
  const items = open.filter(({ id }) => had.has(id));
  const isHere = new Set(items.map(({ id }) => id));
  const hadOthers = !(pending?.ids ?? unfinishedOf(batch)).every((id) => isHere.has(id));
  const answer = (await downstreamOf(operation).reported?.({ batchId, target, items }, said, hadOthers)) ?? said;
  if (answer.kind === 'results') return answer;
  // The report covers all items of the job.
  const all = new Map((pending?.ids ?? []).map((each) => [each, { status: 'succeeded' } as const]));
  return { kind: 'results', items: answer.kind === 'all-succeeded' ? all : new Map(), foreign: 0 };
};

const record = async (
  deps: CallDeps,
  message: CompletionMessage,
  batch: Batch,
  said: Said,
  isRunning: boolean,
): Promise<Next> => {
  const { report, tasks } = deps;
  const operation = operationFor(deps.config, batch.operation);
  const { countedAttempts, attempt } = batch;
  const run = { batch, operation, countedAttempts, attempt };
  const members = await tasks.members(unfinishedOf(batch), batch.id);
  const answer = await meaningOf(deps, batch, members, said);
  reportForeign(report, batch.id, answer, unfinishedOf(batch));
  const tally = new Tally(deps, batch, operation, members);
  // A lost payload existed when the call was made, and is not needed for a result.
  const open = [...members.open, ...members.lost.map((lost): OpenTask => ({ ...lost, payload: '' }))];
  const { results, open: left, throttled, ...why } = verdictOf(answer, open);
  await tally.record(results, countedAttempts);
  if (left.length === 0 && !isRunning) {
    await settleLeases(deps, batch, batch.grants ?? []);
    return finish(deps, run, tally);
  }
  await tally.notifyEnded();
  // Another report may have been recorded at the same moment. Then each of the two reports found the items of the other
  // report open.
  if (results.length > 0 && !isRunning && (await allEnded(deps, left))) return 'again';
  const jobs = new Set(batch.pending?.ids);
  const had = left.filter(({ id }) => jobs.has(id));
  // The batch's other tasks may wait for long until their next attempt.
  if (had.length === 0 && !isRunning) await settleLeases(deps, batch, batch.grants ?? []);
  if (left.length > 0 && !left.some(({ id }) => answer.items.has(id))) return 'end';
  // The attempt under way has not read this result and may be calling the downstream. The batch keeps its slots until
  // that attempt has ended.
  if (isRunning) return awaitAttempt(deps, message, batch);
  // The job's other items will still be reported, or another call will include them.
  if (had.length === 0 || !had.every(({ id }) => answer.items.has(id))) return 'end';
  return tryAgain(deps, run, tally, { ...why, items: left, ...(throttled ? { throttled } : {}) });
};

const allEnded = async ({ tasks }: CallDeps, items: readonly OpenTask[]): Promise<boolean> => {
  const stored = await tasks.all(items.map(({ id }) => id));
  return stored.length === items.length && stored.every(({ state }) => hasEnded(state));
};

/** Postpones the batch, as an attempt does, because all items of a job need another attempt. */
const tryAgain = async (
  deps: CallDeps,
  run: Pick<Attempt, 'batch' | 'operation' | 'attempt' | 'countedAttempts'>,
  tally: Tally,
  left: Left,
): Promise<Next> => {
  const { machine, report } = deps;
  const { batch, operation, attempt } = run;
  await settleLeases(deps, batch, batch.grants ?? []);
  const { throttled = new Set<TaskId>() } = left;
  const ids = left.items.map(({ id }) => id);
  const used = usedBy(batch, ids, run.countedAttempts, throttled);
  const { maxAttempts } = operation.retry;
  if (mostUsed(used) >= maxAttempts) {
    await giveUp(
      run,
      tally,
      only([left], ({ id }) => (used.get(id) ?? 0) >= maxAttempts),
    );
    const [others] = only([left], ({ id }) => (used.get(id) ?? 0) < maxAttempts);
    return others ? tryAgain(deps, run, tally, others) : finish(deps, run, tally);
  }
  await tally.notifyEnded();
  const { countedAttempts, ...spared } = storedAs({ open: ids }, used);
  const delayed = machine.now() + retryDelay(operation.retry, Math.max(1, countedAttempts), machine.random());
  // Do not start before the time that is already set: open items, or an attempt whose results could not be stored, may
  // have to wait for a pause.
  const retryAt = batch.open?.length || batch.uncounted ? Math.max(batch.runUntil, delayed) : delayed;
  const parts = batch.split === undefined ? {} : { split: batch.split };
  const rest = { open: ids, counts: tally.counts, calls: lastCalls(batch.calls), ...parts, ...spared };
  const ended = {
    ...rest,
    lastAttempt: lastAttempt(left, { attempt, endedAt: machine.now(), open: ids.length, pending: 0 }),
  };
  if (!(await deps.batches.postpone(batch.id, attempt, { retryAt, countedAttempts, ...ended }))) return 'again';
  await comeBack(deps, batch, retryAt);
  const { id: batchId, operation: name } = batch;
  report({ event: 'postponed', batchId, operation: name, open: left.items.length, retryAt, ...whyOf(left) });
  return 'end';
};

/** Sends an invalid message to the rejected queue with the reason. */
const reject = async (
  { queues, machine, report }: CallDeps,
  message: CompletionMessage,
  { messageId }: Delivery,
  problem: Problem,
): Promise<Next> => {
  await queues.reject([{ messageId, body: printBatch(message), problems: [problem], at: machine.now() }]);
  report({ event: 'rejected', messages: 1, reasons: [`${problem.path} ${problem.reason}`] });
  return 'end';
};
