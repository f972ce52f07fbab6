/** Runs simulations in worker threads, one per core. A simulation depends only on its job. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { answerOf } from '../../src/util/answer-of.ts';
import type { Job } from './job.ts';
import type { Outcome } from './outcome.ts';

/** Compiled in the published package, TypeScript in a clone. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Simulates jobs and returns their outcomes in the same order. It throws the first error of a job.
 *
 * @param onDone called after each job
 */
export type SimulateAll = (jobs: readonly Job[], onDone?: () => void) => Promise<readonly Outcome[]>;

/** Runs work with worker threads, and terminates the threads afterwards. */
export const withThreads = async <T>(work: (simulateAll: SimulateAll) => Promise<T>): Promise<T> => {
  const workers: Worker[] = [];
  const workerAt = (index: number): Worker => {
    workers[index] ??= new Worker(WORKER);
    return workers[index];
  };
  try {
    return await work((jobs, onDone = () => {}) => simulateAll(workerAt, jobs, onDone));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
};

const simulateAll = async (
  workerAt: (index: number) => Worker,
  jobs: readonly Job[],
  onDone: () => void,
): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async (worker: Worker): Promise<void> => {
    for (let index = next++; index < jobs.length; index = next++) {
      outcomes[index] = await answerOf<Outcome>(worker, jobs[index]);
      onDone();
    }
  };
  const threads = Math.min(jobs.length, availableParallelism());
  await Promise.all(Array.from({ length: threads }, (_, index) => work(workerAt(index))));
  return outcomes;
};
