/**
 * Runs schedules on all cores. A schedule depends only on its seed, so the thread and the time of its run do not
 * matter.
 */
import { availableParallelism } from 'node:os';
import { parentPort, Worker } from 'node:worker_threads';
import { answerOf } from '../../src/util/answer-of.ts';
import { type Figures, type Kind, noRuns, plus, runSchedules, type Summary } from './schedules.ts';

/** Consecutive seeds for one thread. */
interface Chunk<Sizes> {
  readonly seed: number;
  readonly runs: number;
  readonly size: Sizes | 'usual';
}

const CHUNK = 50;

/**
 * When to stop: after `runs` schedules, or after schedules with `lives` runs of tasks in total. Schedules that have
 * started are completed.
 */
export interface Enough {
  readonly runs?: number | undefined;
  readonly lives?: number | undefined;
}

/**
 * Runs schedules with consecutive seeds, beginning with `firstSeed`.
 *
 * @param onProgress called after each chunk
 */
export const runInParallel = async <Scenario, Report, Sums extends Figures, Sizes extends string>(
  kind: Kind<Scenario, Report, Sums, Sizes>,
  firstSeed: number,
  { runs = Number.POSITIVE_INFINITY, lives = Number.POSITIVE_INFINITY }: Enough,
  onProgress: (sofar: Summary<Sums>) => void = () => {},
  size: Sizes | 'usual' = 'usual',
): Promise<Summary<Sums>> => {
  const { chunk: most = CHUNK } = kind.sizes[size];
  let [seed, summary] = [firstSeed, noRuns(kind)];
  const work = async (): Promise<void> => {
    const worker = new Worker(kind.main);
    try {
      while (seed < firstSeed + runs && (kind.livesIn?.(summary) ?? 0) < lives) {
        const chunk: Chunk<Sizes> = { seed, runs: Math.min(most, firstSeed + runs - seed), size };
        seed += chunk.runs;
        const answer = await answerOf<Summary<Sums>>(worker, chunk);
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

/** In a worker thread: answers each chunk that the thread receives with a summary. */
export const runChunks = <Scenario, Report, Sums extends Figures, Sizes extends string>(
  kind: Kind<Scenario, Report, Sums, Sizes>,
): void => {
  parentPort?.on('message', async ({ seed, runs, size }: Chunk<Sizes>) => {
    parentPort?.postMessage(await runSchedules(kind, seed, runs, undefined, undefined, size));
  });
};
