/** Many schedules, one after the other, and what they came to. */
import { runNumber } from '../../src/domain/tasks/task.ts';
import { type FaultCounts, noFaultCounts, plusFaults } from '../../src/virtual/faults.ts';
import { SIZES, type Size } from './sizes.ts';
import { type Report, runSchedule, type Scenario } from './world.ts';

export interface Summary {
  readonly runs: number;
  readonly tasks: number;
  /** Runs of tasks: each registration is one, and each redrive another. */
  readonly lives: number;
  readonly batches: number;
  readonly calls: number;
  readonly faults: FaultCounts;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

export const NO_RUNS: Summary = {
  runs: 0,
  tasks: 0,
  lives: 0,
  batches: 0,
  calls: 0,
  faults: noFaultCounts(),
  violations: [],
};

export const plus = (a: Summary, b: Summary): Summary => ({
  runs: a.runs + b.runs,
  tasks: a.tasks + b.tasks,
  lives: a.lives + b.lives,
  batches: a.batches + b.batches,
  calls: a.calls + b.calls,
  faults: plusFaults(a.faults, b.faults),
  violations: [...a.violations, ...b.violations],
});

const summaryOf = ({ tables, expired, calls, faults, violation }: Report, seed: number): Summary => ({
  runs: 1,
  tasks: tables.tasks.size + expired.tasks.length,
  lives: [...tables.tasks.values(), ...expired.tasks.map(({ row }) => row)].reduce(
    (sum, task) => sum + runNumber(task),
    0,
  ),
  batches: tables.batches.size + expired.batches.length,
  calls,
  faults,
  violations: violation ? [{ seed, message: violation.message }] : [],
});

/**
 * Runs `runs` schedules with consecutive seeds.
 *
 * @param change alters each scenario, e.g. to put a known bug back.
 * @param onRun is told of every run; answer false to stop.
 */
export const runSchedules = async (
  firstSeed: number,
  runs: number,
  change: (scenario: Scenario) => Scenario = (scenario) => scenario,
  onRun: (report: Report, seed: number) => boolean = () => true,
  size: Size = 'usual',
): Promise<Summary> => {
  let summary = NO_RUNS;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const report = await runSchedule(change(SIZES[size].scenarioOf(seed)));
    summary = plus(summary, summaryOf(report, seed));
    if (!onRun(report, seed)) break;
  }
  return summary;
};
