/** Many schedules of deferred lists, one after the other, and what they came to. */
import type { FanOut } from '../../src/domain/fan-outs/fan-out.ts';
import { type FaultCounts, noFaultCounts, plusFaults } from '../../src/virtual/faults.ts';
import { type ListScenario, listScenarioOf } from './scenario.ts';
import { type ListReport, runLists } from './world.ts';

type End = Exclude<FanOut['status'], 'open' | 'sealed'>;

export interface ListSummary {
  readonly runs: number;
  readonly lists: number;
  readonly jobs: number;
  /** Jobs that became tasks. */
  readonly tasks: number;
  readonly ends: Readonly<Record<End, number>>;
  readonly faults: FaultCounts;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

export const NO_LISTS: ListSummary = {
  runs: 0,
  lists: 0,
  jobs: 0,
  tasks: 0,
  ends: { complete: 0, cancelled: 0, expired: 0 },
  faults: noFaultCounts(),
  violations: [],
};

export const plusLists = (a: ListSummary, b: ListSummary): ListSummary => ({
  runs: a.runs + b.runs,
  lists: a.lists + b.lists,
  jobs: a.jobs + b.jobs,
  tasks: a.tasks + b.tasks,
  ends: {
    complete: a.ends.complete + b.ends.complete,
    cancelled: a.ends.cancelled + b.ends.cancelled,
    expired: a.ends.expired + b.ends.expired,
  },
  faults: plusFaults(a.faults, b.faults),
  violations: [...a.violations, ...b.violations],
});

const summaryOf = ({ tables, faults, violation }: ListReport, seed: number): ListSummary => {
  const all = [...tables.fanOuts.values()];
  const endsOf = (end: End): number => all.filter(({ status }) => status === end).length;
  return {
    runs: 1,
    lists: all.length,
    jobs: all.reduce((sum, { total }) => sum + total, 0),
    tasks: tables.tasks.size,
    ends: { complete: endsOf('complete'), cancelled: endsOf('cancelled'), expired: endsOf('expired') },
    faults,
    violations: violation ? [{ seed, message: violation.message }] : [],
  };
};

/**
 * Runs `runs` schedules with consecutive seeds.
 *
 * @param change alters each scenario, e.g. to put a known bug back.
 * @param onRun is told of every run; answer false to stop.
 */
export const runListSchedules = async (
  firstSeed: number,
  runs: number,
  change: (scenario: ListScenario) => ListScenario = (scenario) => scenario,
  onRun: (report: ListReport, seed: number) => boolean = () => true,
): Promise<ListSummary> => {
  let summary = NO_LISTS;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const report = await runLists(change(listScenarioOf(seed)));
    summary = plusLists(summary, summaryOf(report, seed));
    if (!onRun(report, seed)) break;
  }
  return summary;
};
