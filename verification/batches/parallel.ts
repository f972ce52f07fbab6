/** Schedules on all cores. Each depends on its seed alone, so that it does not matter who runs it, or when. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { answerOf } from '../../src/util/answer-of.ts';
import { NO_RUNS, plus, type Summary } from './schedules.ts';
import { SIZES, type Size } from './sizes.ts';

/** Consecutive seeds for one thread. */
export interface Chunk {
  readonly seed: number;
  readonly runs: number;
  readonly size?: Size;
}

const CHUNK = 50;

/** When to stop: after so many schedules, or as soon as they lived so many lives; those under way are finished. */
interface Enough {
  readonly runs?: number;
  readonly lives?: number;
}

/** Schedules of one kind: who runs them, and how what they came to is summed. */
export interface Kind<Summary> {
  readonly worker: URL;
  readonly none: Summary;
  readonly plus: (a: Summary, b: Summary) => Summary;
  readonly size?: Size;
  /** Schedules that a thread takes at once. @default - fifty */
  readonly chunk?: number;
}

/**
 * Runs schedules of tasks from `firstSeed` on.
 *
 * @param onProgress is told of every chunk.
 */
export const runInParallel = (
  firstSeed: number,
  enough: Enough,
  onProgress: (sofar: Summary) => void,
  size: Size = 'usual',
): Promise<Summary> => inParallel({ ...TASKS, size, chunk: SIZES[size].chunk }, firstSeed, enough, onProgress);

const TASKS: Kind<Summary> = { worker: new URL('./worker.ts', import.meta.url), none: NO_RUNS, plus };

/** Runs schedules of any kind. @param onProgress is told of every chunk. */
export const inParallel = async <Some extends object>(
  { worker: url, none, plus, size = 'usual', chunk: most = CHUNK }: Kind<Some>,
  firstSeed: number,
  { runs = Number.POSITIVE_INFINITY, lives = Number.POSITIVE_INFINITY }: Enough,
  onProgress: (sofar: Some) => void,
): Promise<Some> => {
  let [seed, summary] = [firstSeed, none];
  const work = async (): Promise<void> => {
    const worker = new Worker(url);
    try {
      while (seed < firstSeed + runs && livesOf(summary) < lives) {
        const chunk = { seed, runs: Math.min(most, firstSeed + runs - seed), size };
        seed += chunk.runs;
        const answer = await answerOf<Some>(worker, chunk);
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

const livesOf = (summary: object): number =>
  'lives' in summary && typeof summary.lives === 'number' ? summary.lives : 0;
