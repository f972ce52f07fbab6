/**
 * Handle a batch: call downstream and give every member its result (rules H1 to H7).
 *
 * Attempts are numbered; only the one whose number the batch shows may postpone or finish it, so that a handler which
 * was paused for too long changes nothing but results that are still missing.
 */
import { attemptTime, handlerTimeout, type Operation, operationFor } from '../config/resolved.ts';
import { type Answer, inFull, type Reason, whyOf } from '../downstream/downstream.ts';
import { delayCeiling, retryDelay } from '../downstream/retry.ts';
import { failAll, verdictOf } from '../downstream/verdict.ts';
import type { Invocation, Members, OpenTask } from '../ports.ts';
import { type Batch, type Counts, finishedStatus, isFinished, membersOf } from './batch.ts';
import { delayPast } from './delay.ts';
import type { Deps } from './deps.ts';
import type { Millis } from './ids.ts';
import type { BatchMessage } from './messages.ts';
import { releaseSlots } from './tail.ts';
import type { TaskError, TaskResult } from './task.ts';
import { CLOCK_SKEW, HANDLER_OVERHEAD } from './timings.ts';
import { type Next, OutOfTime, untilDone } from './turns.ts';

type HandleDeps = Pick<
  Deps,
  'config' | 'tasks' | 'waiting' | 'locks' | 'batches' | 'operations' | 'queues' | 'machine' | 'report' | 'downstreamOf'
>;

export const handleBatch = (deps: HandleDeps, message: BatchMessage, invocation: Invocation): Promise<void> =>
  untilDone(`batch ${message.batchId}`, invocation, () => takeTurn(deps, message, invocation));

/** Only a sealed batch has members. Its message is sent after the seal; one that is early has to wait. */
export class NotSealed extends Error {
  override readonly name = 'NotSealed';
}

/** H1, H2. */
const takeTurn = async (deps: HandleDeps, { batchId }: BatchMessage, invocation: Invocation): Promise<Next> => {
  const { batches, queues, machine, config, report } = deps;
  const batch = await batches.get(batchId);
  if (!batch) {
    report({ event: 'unknown-batch', batchId });
    return 'end';
  }
  if (isFinished(batch.status)) {
    await releaseSlots(deps, batch);
    return 'end';
  }
  if (batch.status === 'forming') throw new NotSealed(`batch ${batchId} is not sealed yet; its message comes back`);
  const now = machine.now();
  if (batch.status === 'in-progress' && batch.runUntil >= now) {
    await queues.batch({ batchId }, delayPast(batch.runUntil, now));
    return 'end';
  }
  const ready = await prepare(deps, batch);
  if (!hasTimeFor(ready.operation, invocation)) throw new OutOfTime(`no time left to call about batch ${batchId}`);
  const [attempt, token, at] = [batch.attempt + 1, machine.token(), machine.now()];
  const start = { attempt, token, at, runUntil: at + handlerTimeout(config) + 2 * CLOCK_SKEW };
  // Refused, perhaps by ourselves: a client that repeats a request whose answer was lost finds its own write.
  const isMine = (await batches.start(batchId, start)) || (await batches.get(batchId))?.startedBy === token;
  return isMine ? runAttempt(deps, { ...ready, batch, attempt, invocation }) : 'again';
};

/**
 * What an attempt needs, before it is started (H3 before H2): every attempt that starts counts, and one that could not
 * know its operation or read its tasks should not. What a paused handler writes in between costs an item that is asked
 * about twice, as it would later.
 */
const prepare = async ({ config, tasks }: HandleDeps, batch: Batch): Promise<Ready> => ({
  operation: operationFor(config, batch.operation),
  members: await tasks.members(membersOf(batch), batch.id),
});

interface Ready {
  readonly operation: Operation;
  readonly members: Members;
}

interface Attempt extends Ready {
  readonly batch: Batch;
  readonly attempt: number;
  readonly invocation: Invocation;
}

/** What is left to do after a call. */
interface Rest extends Reason {
  readonly open: readonly OpenTask[];
  readonly retryAfter?: Millis;
}

/** H4 to H6. */
const runAttempt = async (deps: HandleDeps, run: Attempt): Promise<Next> => {
  const { attempt, members } = run;
  const { maxAttempts } = run.operation.retry;
  const counts = { ...members.counts };
  const lost = members.lost.map((id) => ({ id }));
  await record(deps, run, failAll(lost, PAYLOAD_LOST), counts);
  const rest =
    attempt <= maxAttempts
      ? await callUntilDone(deps, run, members.open, counts)
      : { open: members.open, reason: 'the last attempt did not report (its function crashed or timed out)' };
  if (rest.open.length > 0 && attempt < maxAttempts) return postpone(deps, run, rest);
  await record(deps, run, failAll(rest.open, exhausted(Math.min(attempt, maxAttempts), inFull(rest))), counts);
  return finish(deps, run, counts);
};

const PAYLOAD_LOST: TaskError = {
  code: 'payload-lost',
  message: 'its payload is not stored any more: send the task again under another id',
  retriable: false,
};

const exhausted = (attempts: number, reason: string): TaskError => ({
  code: 'attempts-exhausted',
  message: `gave up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason}`,
  retriable: true,
});

/** H4. Calls, and at once again with what is still open, as often as the policy and the function's time allow. */
const callUntilDone = async (
  deps: HandleDeps,
  run: Attempt,
  members: readonly OpenTask[],
  counts: MutableCounts,
): Promise<Rest> => {
  const { retry } = run.operation;
  let rest: Rest = { open: members, reason: '' };
  for (let call = 0; call <= retry.immediate && rest.open.length > 0; call += 1) {
    if (call > 0 && !hasTimeFor(run.operation, run.invocation)) break;
    const answer = await callOnce(deps, run, rest.open);
    const verdict = verdictOf(answer, rest.open);
    await record(deps, run, verdict.results, counts);
    rest = { ...verdict, ...('retryAfter' in answer ? { retryAfter: answer.retryAfter } : {}) };
    if (answer.kind === 'unavailable' && !answer.mayRetryAtOnce) break;
  }
  return rest;
};

/** Half of what is not for calls has to be left for the results. */
const hasTimeFor = ({ downstream }: Operation, { timeLeft }: Invocation): boolean =>
  timeLeft() >= downstream.timeout + HANDLER_OVERHEAD / 2;

const callOnce = async (deps: HandleDeps, { batch, attempt }: Attempt, items: readonly OpenTask[]): Promise<Answer> => {
  const { id: batchId, operation, target } = batch;
  const from = deps.machine.now();
  const answer = await deps.downstreamOf(operation).call({ batchId, operation, target, attempt, items });
  const { reason: said, ...quote } = 'reason' in answer ? whyOf(answer) : { reason: answer.kind };
  deps.report({
    event: 'called',
    batchId,
    operation,
    attempt,
    items: items.length,
    took: deps.machine.now() - from,
    answer: said,
    ...quote,
  });
  if (answer.kind === 'results' && answer.foreign > 0)
    deps.report({ event: 'foreign-results', batchId, items: answer.foreign });
  return answer;
};

type MutableCounts = { -readonly [Status in keyof Counts]: number };

/** Writes results, and counts what the tasks then show: a result that somebody else wrote first stands. */
const record = async (
  deps: HandleDeps,
  run: Attempt,
  results: readonly TaskResult[],
  counts: MutableCounts,
): Promise<void> => {
  if (results.length === 0) return;
  const { batch, attempt, operation } = run;
  const at = deps.machine.now();
  const written = await deps.tasks.finish(results, {
    id: batch.id,
    target: batch.target,
    attempts: Math.min(attempt, operation.retry.maxAttempts),
    at,
    keep: operation.keepTasks,
  });
  for (const status of written) if (status) counts[status] += 1;
};

/** H5. */
const postpone = async (deps: HandleDeps, { batch, attempt, operation }: Attempt, rest: Rest): Promise<Next> => {
  const { batches, queues, machine, report } = deps;
  const now = machine.now();
  const retryAfter = Math.min(rest.retryAfter ?? 0, longestPause(operation, attempt));
  const retryAt = now + retryDelay(operation.retry, attempt, machine.random(), retryAfter);
  if (!(await batches.postpone(batch.id, attempt, retryAt))) return 'again';
  await queues.batch({ batchId: batch.id }, delayPast(retryAt, now));
  report({ event: 'postponed', batchId: batch.id, open: rest.open.length, retryAt, ...whyOf(rest) });
  return 'end';
};

/** However long the downstream asks to be left alone: a batch must not outlive the results of its first attempts. */
const longestPause = ({ keepTasks, retry, downstream }: Operation, attempt: number): Millis => {
  const share = keepTasks / retry.maxAttempts;
  return Math.max(0, share - attemptTime(downstream.timeout, retry.immediate) - delayCeiling(retry, attempt));
};

/** H6. */
const finish = async (deps: HandleDeps, { batch, attempt, operation }: Attempt, counts: Counts): Promise<Next> => {
  const status = finishedStatus(counts);
  const end = { status, counts, at: deps.machine.now(), keep: operation.keepTasks };
  if (!(await deps.batches.finish(batch.id, attempt, end))) return 'again';
  deps.report({ event: 'finished', batchId: batch.id, operation: batch.operation, status, counts });
  await releaseSlots(deps, batch);
  return 'end';
};
