/** Simulations in threads, as many at once as there are cores. Each depends on nothing but what it is told. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { answerOf } from '../simulation/parallel.ts';
import type { Job } from './job.ts';
import type { Outcome } from './outcome.ts';

/** As the published package has it, or the clone. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * @param onDone is told whenever one is done.
 * @returns what they came to, in the order of `jobs`
 * @throws what one of them throws
 */
export const simulateAll = async (
  jobs: readonly Job[],
  onDone: (outcome: Outcome) => void = () => {},
): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(WORKER);
    try {
      for (let index = next++; index < jobs.length; index = next++) {
        const outcome = await answerOf<Outcome>(worker, jobs[index]);
        outcomes[index] = outcome;
        onDone(outcome);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs.length, availableParallelism()) }, work));
  return outcomes;
};
