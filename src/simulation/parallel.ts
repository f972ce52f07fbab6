/** Schedules on all cores. Each depends on its seed alone, so that it does not matter who runs it, or when. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { NO_RUNS, plus, type Summary } from './schedules.ts';

/** Consecutive seeds for one thread. */
export interface Chunk {
  readonly seed: number;
  readonly runs: number;
}

const CHUNK = 50;

/**
 * Runs schedules from `firstSeed` on, until `isEnough` of what they came to so far; those under way are finished.
 *
 * @param onProgress is told of every chunk.
 */
export const runInParallel = async (
  firstSeed: number,
  isEnough: (begun: number, sofar: Summary) => boolean,
  onProgress: (sofar: Summary) => void,
): Promise<Summary> => {
  let [seed, summary] = [firstSeed, NO_RUNS];
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      while (!isEnough(seed - firstSeed, summary)) {
        const chunk = { seed, runs: CHUNK };
        seed += CHUNK;
        const answer = await answerOf(worker, chunk);
        summary = plus(summary, answer);
        onProgress(summary);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return summary;
};

const answerOf = (worker: Worker, chunk: Chunk): Promise<Summary> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number): void => reject(new Error(`a thread of the simulation ended with code ${code}`));
    worker.once('message', (summary: Summary) => {
      worker.off('error', reject).off('exit', onExit);
      resolve(summary);
    });
    worker.once('error', reject).once('exit', onExit);
    worker.postMessage(chunk);
  });
