/** Many schedules, one after the other, and what they came to. */
import { type FaultCounts, noFaultCounts } from './faults.ts';
import { scenarioOf } from './scenario.ts';
import { type Report, runSchedule, type Scenario } from './world.ts';

export interface Summary {
  readonly runs: number;
  readonly tasks: number;
  readonly batches: number;
  readonly calls: number;
  readonly faults: FaultCounts;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

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
): Promise<Summary> => {
  const faults = noFaultCounts();
  const violations: { seed: number; message: string }[] = [];
  let [done, tasks, batches, calls] = [0, 0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const report = await runSchedule(change(scenarioOf(seed)));
    done += 1;
    tasks += report.tables.tasks.size;
    batches += report.tables.batches.size;
    calls += report.calls;
    for (const kind of Object.keys(faults) as (keyof FaultCounts)[]) faults[kind] += report.faults[kind];
    if (report.violation) violations.push({ seed, message: report.violation.message });
    if (!onRun(report, seed)) break;
  }
  return { runs: done, tasks, batches, calls, faults, violations };
};
