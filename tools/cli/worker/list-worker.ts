/** Works on a deferred list with processes of a user's program. Loaded only by its command. */
import { ulid } from 'ulid';
import { ApiRefused, ApiUnavailable, askingBy } from '../../../src/client/ask-api.ts';
import { type ClaimLoopOptions, claimLoop, type HandledJob, type LoopEnd } from '../../../src/client/claim-loop.ts';
import { JobFailed } from '../../../src/client/claim-work.ts';
import { listPath } from '../../../src/client/list-calls.ts';
import { listsBy } from '../../../src/client/list-client.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { printable } from '../../terminal.ts';
import { LIST } from '../shared/answers.ts';
import { apiClient } from '../shared/api-client.ts';
import { type CommonOptions, reachApi } from '../shared/connect.ts';
import { WorkerPool } from './pool.ts';
import { killAll, type ProcessOptions, WorkerProcess } from './process.ts';
import type { FromWorker } from './protocol.ts';
import { stopOnSignals, unlessStopped } from './stopping.ts';

/** The program wants the job to be handed out again. The message is the job's error after its last delivery. */
class Retry extends Error {
  override readonly name = 'Retry';
}

/**
 * Runs until no jobs are left, or a signal stops it.
 * @throws CommandFailure
 */
export const workOnList = async (
  id: string,
  program: ProcessOptions,
  loop: Omit<ClaimLoopOptions, 'signal' | 'onJobError'>,
  options: CommonOptions,
): Promise<LoopEnd> => {
  const { url, send } = await reachApi(options);
  const api = apiClient(url, send);
  // A wrong id or address fails here, before any process starts.
  await api.get(listPath(id), LIST);
  const ask = askingBy({ url: api.url, send, isFinal: (cause) => cause instanceof CommandFailure });
  const broken = new AbortController();
  const signal = AbortSignal.any([stopOnSignals('running jobs end, the others are released'), broken.signal]);
  const start = (stop: AbortSignal) => WorkerProcess.start(program, stop);
  // A program that cannot start fails here, before any job counts as delivered.
  const first = await unlessStopped(signal, () => start(signal));
  if (!first) return NOTHING;
  const pool = new WorkerPool(first, start, (cause) => broken.abort(cause));
  const work = (job: HandledJob<object>) => workOn(pool, id, job);
  const onJobError: NonNullable<ClaimLoopOptions['onJobError']> = ({ token, deliveries }, cause) =>
    console.error(
      printable(
        `job ${token}, delivery ${deliveries}: ${reasonOf(cause)}. The job is handed out again, unless this was its last delivery`,
      ),
    );
  try {
    const end = await claimLoop(listsBy(ask, ulid).list(id), work, { ...loop, signal, onJobError });
    if (broken.signal.aborted) throw cannotGoOn(broken.signal.reason);
    await pool.close();
    return end;
  } catch (cause) {
    if (cause instanceof RangeError) throw new WrongUsage(cause.message);
    throw cause instanceof ApiRefused || cause instanceof ApiUnavailable ? cannotGoOn(cause) : cause;
  } finally {
    killAll();
  }
};

const NOTHING: LoopEnd = { ended: 'aborted', claims: 0, succeeded: 0, failed: 0, released: 0, lost: 0 };

const cannotGoOn = (cause: unknown): CommandFailure =>
  new CommandFailure(
    `${reasonOf(cause)}\nThe worker ends. Its jobs that are not done return to the list, at the latest a minute after their lease. Remove the cause, then run the same command again.`,
    { cause },
  );

/** Passes a job to a process, and returns its result. @throws JobFailed, Retry, WorkerEnded */
const workOn = async (pool: WorkerPool, list: string, { signal, ...job }: HandledJob<object>): Promise<unknown> => {
  const worker = await pool.take(signal);
  const onStop = (): void => worker.stop();
  try {
    worker.send({ type: 'job', list, ...job });
    if (signal.aborted) onStop();
    signal.addEventListener('abort', onStop);
    const answer = await answerOf(worker, job.token);
    worker.goOn();
    pool.giveBack(worker);
    return resultIn(answer);
  } finally {
    signal.removeEventListener('abort', onStop);
    if (!worker.isLiving) pool.lose(worker);
  }
};

type Answer = Extract<FromWorker, { readonly token: number }>;

const answerOf = async (worker: WorkerProcess, token: number): Promise<Answer> => {
  const message = await worker.next();
  if (!('token' in message)) return worker.breach(`sent ${message.type} during job ${token}`);
  if (message.token !== token) return worker.breach(`answered for job ${message.token} during job ${token}`);
  return message;
};

const resultIn = (answer: Answer): unknown => {
  switch (answer.type) {
    case 'done':
      return answer.result;
    case 'failed':
      throw new JobFailed(answer.error.code, answer.error.message);
    case 'retry':
      throw new Retry(answer.message ?? 'the worker gave no reason');
  }
};
