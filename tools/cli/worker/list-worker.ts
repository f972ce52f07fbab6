/** Works on a deferred list with processes of a user's program. Loaded only by its command. */
import { ulid } from 'ulid';
import { ApiRefused, ApiUnavailable, askingBy } from '../../../src/client/ask-api.ts';
import { type ClaimLoopOptions, claimLoop, type HandledJob, type LoopEnd } from '../../../src/client/claim-loop.ts';
import { JobFailed } from '../../../src/client/claim-work.ts';
import { listPath } from '../../../src/client/list-calls.ts';
import { listsBy } from '../../../src/client/list-client.ts';
import { reasonOf } from '../../../src/util/problems.ts';
import { CommandFailure, WrongUsage } from '../../failure.ts';
import { plural, printable } from '../../terminal.ts';
import { LIST } from '../shared/answers.ts';
import { apiClient } from '../shared/api-client.ts';
import { type CommonOptions, reachApi } from '../shared/connect.ts';
import { WorkerPool } from './pool.ts';
import { killAll, type ProcessOptions, WorkerEnded, WorkerProcess } from './process.ts';
import type { FromWorker } from './protocol.ts';
import { stopOnSignals, unlessStopped } from './stopping.ts';

/** The program wants the job to be handed out again. The message is the job's error after its last delivery. */
class Retry extends Error {}

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
  const { value: list } = await api.get(listPath(id), LIST);
  const ask = askingBy({ url: api.url, send, isFinal: (cause) => cause instanceof CommandFailure });
  const broken = new AbortController();
  const signal = AbortSignal.any([stopOnSignals('running jobs end, the others are released'), broken.signal]);
  const start = (stop: AbortSignal) => WorkerProcess.start(program, stop);
  // A program that cannot start fails here, before any job counts as delivered.
  const first = await unlessStopped(signal, () => start(signal));
  if (!first) return NOTHING;
  const pool = new WorkerPool(first, start, (cause) => broken.abort(cause));
  const work = (job: HandledJob<object>) => workOn(pool, id, job);
  const reports = reportsOf(list.maxDeliveries);
  try {
    const end = await claimLoop(listsBy(ask, ulid).list(id), work, { ...loop, signal, ...reports });
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

/** What the worker says while it works. @param maxDeliveries undefined if the list has the configured number */
const reportsOf = (
  maxDeliveries: number | undefined,
): Required<Pick<ClaimLoopOptions, 'onJobError' | 'onClaimLost'>> => {
  const say = (text: string): void => console.error(printable(text));
  const nextOf = (deliveries: number): string => {
    if (maxDeliveries === undefined) return 'The job is handed out again, unless this was its last delivery';
    return deliveries < maxDeliveries
      ? 'The job is handed out again'
      : 'This was its last delivery, so the job has failed';
  };
  return {
    onJobError: ({ token, deliveries }, cause) => {
      const of = maxDeliveries === undefined ? '' : ` of ${maxDeliveries}`;
      say(`job ${token}, delivery ${deliveries}${of}: ${reasonOf(cause)}. ${nextOf(deliveries)}`);
    },
    onClaimLost: ({ claim, jobs, reason }) =>
      say(`claim ${claim} is lost, with ${plural(jobs, 'job')} not done: ${reason}`),
  };
};

const NOTHING: LoopEnd = { ended: 'aborted', claims: 0, succeeded: 0, failed: 0, released: 0, lost: 0 };

const cannotGoOn = (cause: unknown): CommandFailure =>
  new CommandFailure(
    `${reasonOf(cause)}\nThe worker ends. Its jobs that are not done return to the list, at the latest a minute after their lease. Remove the cause, then run the same command again.`,
    { cause },
  );

/** A process that exits with status 0 so soon after it got a job, in ms, was exiting already. */
const EXITING = 1_000;

/** Passes a job to a process, and returns its result. @throws JobFailed, Retry, WorkerEnded */
const workOn = async (pool: WorkerPool, list: string, job: HandledJob<object>): Promise<unknown> => {
  const worker = await pool.take(job.signal);
  const since = performance.now();
  try {
    return await passTo(worker, pool, list, job);
  } catch (cause) {
    // A program may exit after some jobs, to free its memory. So soon after the job was sent, it has hardly begun it.
    const isSoon = performance.now() - since < EXITING;
    const isReplaced = cause instanceof WorkerEnded && cause.isClean && worker.hasWorked && !worker.hasAnswered;
    if (!isReplaced || !isSoon || job.signal.aborted) throw cause;
    return passTo(await pool.takeNew(job.signal), pool, list, job);
  }
};

const passTo = async (
  worker: WorkerProcess,
  pool: WorkerPool,
  list: string,
  { signal, ...job }: HandledJob<object>,
): Promise<unknown> => {
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
      console.error(printable(`job ${answer.token} has failed (${answer.error.code}): ${answer.error.message}`));
      throw new JobFailed(answer.error.code, answer.error.message);
    case 'retry':
      throw new Retry(answer.message ?? 'the worker gave no reason');
  }
};
