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

/** When to stop: after so many schedules, or as soon as they lived so many lives; those under way are finished. */
interface Enough {
  readonly runs?: number;
  readonly lives?: number;
}

/**
 * Runs schedules from `firstSeed` on.
 *
 * @param onProgress is told of every chunk.
 */
export const runInParallel = async (
  firstSeed: number,
  { runs = Number.POSITIVE_INFINITY, lives = Number.POSITIVE_INFINITY }: Enough,
  onProgress: (sofar: Summary) => void,
): Promise<Summary> => {
  let [seed, summary] = [firstSeed, NO_RUNS];
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      while (seed < firstSeed + runs && summary.lives < lives) {
        const chunk = { seed, runs: Math.min(CHUNK, firstSeed + runs - seed) };
        seed += chunk.runs;
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
