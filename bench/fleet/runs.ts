/** All runs of the benchmark, on all cores. A run depends only on its scenario and its seed. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { answerOf } from '../../src/util/answer-of.ts';
import type { FleetOutcome } from '../../verification/fleets/scenario.ts';
import type { ContenderName } from './contenders.ts';
import type { ScenarioName, Timing } from './scenarios.ts';

/** One run to do. */
export interface Case {
  readonly scenario: ScenarioName;
  /** The number of nodes at the beginning. */
  readonly nodes: number;
  readonly contender: ContenderName;
  readonly seed: number;
  readonly timing: Timing;
}

export interface Run extends Case {
  readonly outcome: FleetOutcome;
}

/**
 * @param onRun called with each run when the run ends
 * @returns all runs, in the order of the cases
 */
export const runAll = async (cases: readonly Case[], onRun: (run: Run) => void = () => {}): Promise<readonly Run[]> => {
  const runs: Run[] = [];
  const waiting = [...cases.entries()];
  const thread = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, each] = next;
        const run = { ...each, outcome: await answerOf<FleetOutcome>(worker, each) };
        runs[index] = run;
        onRun(run);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), cases.length) }, thread));
  return runs;
};
