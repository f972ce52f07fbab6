/**
 * Handle a batch: call downstream and give every member its result (rules H1 to H7).
 *
 * Attempts are numbered; only the one whose number the batch shows may postpone or finish it, so that a handler which
 * was paused for too long changes nothing but results that are still missing.
 */
import { handlerTimeout, type Operation, operationFor } from '../config/resolved.ts';
import type { Answer } from '../downstream/downstream.ts';
import { retryDelay } from '../downstream/retry.ts';
import { failAll, verdictOf } from '../downstream/verdict.ts';
import type { Invocation, Members, OpenTask } from '../ports.ts';
import { type Batch, type Counts, finishedStatus, isFinished, membersOf } from './batch.ts';
import { delayPast } from './delay.ts';
import type { Deps } from './deps.ts';
import type { Millis } from './ids.ts';
import type { BatchMessage } from './messages.ts';
import type { TaskError, TaskResult } from './task.ts';
import { CLOCK_SKEW, HANDLER_OVERHEAD } from './timings.ts';

type HandleDeps = Pick<Deps, 'config' | 'tasks' | 'batches' | 'queues' | 'machine' | 'report' | 'downstreamOf'>;

type Next = 'again' | 'end';

export const handleBatch = async (deps: HandleDeps, message: BatchMessage, invocation: Invocation): Promise<void> => {
  while ((await step(deps, message, invocation)) === 'again');
};

/** H1, H2. */
const step = async (deps: HandleDeps, { batchId }: BatchMessage, invocation: Invocation): Promise<Next> => {
  const { batches, queues, machine, config, report } = deps;
  const batch = await batches.get(batchId);
  if (!batch) {
    report({ event: 'unknown-batch', batchId });
    return 'end';
  }
  if (isFinished(batch.status)) return 'end';
  const now = machine.now();
  if (batch.status === 'in-progress' && batch.runUntil >= now) {
    await queues.batch({ batchId }, delayPast(batch.runUntil, now));
    return 'end';
  }
  const attempt = batch.attempt + 1;
  const runUntil = now + handlerTimeout(config) + 2 * CLOCK_SKEW;
  const tries = await batches.start(batchId, attempt, now, runUntil);
  if (tries === undefined) return 'again';
  return runAttempt(deps, { batch, attempt, tries, operation: operationFor(config, batch.operation), invocation });
};

interface Attempt {
  readonly batch: Batch;
  readonly attempt: number;
  /** Attempts that count, this one included. */
  readonly tries: number;
  readonly operation: Operation;
  readonly invocation: Invocation;
}

/** What is left to do after a call. */
interface Rest {
  readonly open: readonly OpenTask[];
  readonly reason: string;
  readonly retryAfter?: Millis;
}

/** H3 to H6. */
const runAttempt = async (deps: HandleDeps, run: Attempt): Promise<Next> => {
  const { tries } = run;
  const { maxAttempts } = run.operation.retry;
  const members = await load(deps, run);
  const counts = { ...members.counts };
  await record(
    deps,
    run,
    failAll(
      members.lost.map((id) => ({ id })),
      PAYLOAD_LOST,
    ),
    counts,
  );
  const rest =
    tries <= maxAttempts
      ? await callUntilDone(deps, run, members.open, counts)
      : { open: members.open, reason: 'the last attempt did not report (its function crashed or timed out)' };
  if (rest.open.length > 0 && tries < maxAttempts) return postpone(deps, run, rest);
  await record(deps, run, failAll(rest.open, exhausted(Math.min(tries, maxAttempts), rest.reason)), counts);
  return finish(deps, run, counts);
};

/** H3. An attempt that fails here has called nobody: it does not count. */
const load = async ({ tasks, batches, machine }: HandleDeps, { batch, attempt }: Attempt): Promise<Members> => {
  try {
    return await tasks.members(membersOf(batch), batch.id);
  } catch (cause) {
    await batches.postpone(batch.id, attempt, machine.now(), false);
    throw cause;
  }
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
  const { retry, downstream } = run.operation;
  let rest: Rest = { open: members, reason: '' };
  for (let call = 0; call <= retry.immediate && rest.open.length > 0; call += 1) {
    if (call > 0 && run.invocation.timeLeft() < downstream.timeout + HANDLER_OVERHEAD / 2) break;
    const answer = await callOnce(deps, run, rest.open);
    const verdict = verdictOf(answer, rest.open);
    await record(deps, run, verdict.results, counts);
    rest = { ...verdict, ...('retryAfter' in answer ? { retryAfter: answer.retryAfter } : {}) };
    if (answer.kind === 'unavailable' && !answer.mayRetryAtOnce) break;
  }
  return rest;
};

const callOnce = async (
  deps: HandleDeps,
  { batch, tries: attempt }: Attempt,
  items: readonly OpenTask[],
): Promise<Answer> => {
  const { id: batchId, operation, target } = batch;
  const from = deps.machine.now();
  const answer = await deps.downstreamOf(operation).call({ batchId, operation, target, attempt, items });
  const said = 'reason' in answer ? answer.reason : answer.kind;
  deps.report({
    event: 'called',
    batchId,
    operation,
    attempt,
    items: items.length,
    took: deps.machine.now() - from,
    answer: said,
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
  const { batch, tries, operation } = run;
  const at = deps.machine.now();
  const written = await deps.tasks.finish(results, {
    id: batch.id,
    target: batch.target,
    tries: Math.min(tries, operation.retry.maxAttempts),
    at,
    keep: operation.keepTasks,
  });
  for (const status of written) if (status) counts[status] += 1;
};

/** H5. */
const postpone = async (deps: HandleDeps, { batch, attempt, tries, operation }: Attempt, rest: Rest): Promise<Next> => {
  const { batches, queues, machine, report } = deps;
  const now = machine.now();
  const retryAt = now + retryDelay(operation.retry, tries, machine.random(), rest.retryAfter);
  if (!(await batches.postpone(batch.id, attempt, retryAt, true))) return 'again';
  await queues.batch({ batchId: batch.id }, delayPast(retryAt, now));
  report({ event: 'postponed', batchId: batch.id, open: rest.open.length, retryAt, reason: rest.reason });
  return 'end';
};

/** H6. */
const finish = async (deps: HandleDeps, { batch, attempt, operation }: Attempt, counts: Counts): Promise<Next> => {
  const status = finishedStatus(counts);
  const end = { status, counts, at: deps.machine.now(), keep: operation.keepTasks };
  if (!(await deps.batches.finish(batch.id, attempt, end))) return 'again';
  deps.report({ event: 'finished', batchId: batch.id, operation: batch.operation, status, counts });
  return 'end';
};
