/** Many schedules of fan-outs, one after the other, and what they came to. */
import type { EndReason } from '../../src/domain/fan-outs/fan-out.ts';
import { type FaultCounts, noFaultCounts, plusFaults } from '../../src/virtual/faults.ts';
import { type FanOutScenario, fanOutScenarioOf } from './scenario.ts';
import { type FanOutReport, runFanOuts } from './world.ts';

export interface FanOutSummary {
  readonly runs: number;
  readonly fanOuts: number;
  readonly items: number;
  readonly ends: Readonly<Record<Exclude<EndReason, 'cancelled'>, number>>;
  readonly faults: FaultCounts;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

export const NO_FAN_OUTS: FanOutSummary = {
  runs: 0,
  fanOuts: 0,
  items: 0,
  ends: { 'all-done': 0, 'too-many-failed': 0, idle: 0, deleted: 0 },
  faults: noFaultCounts(),
  violations: [],
};

export const plusFanOuts = (a: FanOutSummary, b: FanOutSummary): FanOutSummary => ({
  runs: a.runs + b.runs,
  fanOuts: a.fanOuts + b.fanOuts,
  items: a.items + b.items,
  ends: {
    'all-done': a.ends['all-done'] + b.ends['all-done'],
    'too-many-failed': a.ends['too-many-failed'] + b.ends['too-many-failed'],
    idle: a.ends.idle + b.ends.idle,
    deleted: a.ends.deleted + b.ends.deleted,
  },
  faults: plusFaults(a.faults, b.faults),
  violations: [...a.violations, ...b.violations],
});

const summaryOf = ({ tables, faults, violation }: FanOutReport, seed: number): FanOutSummary => {
  const all = [...tables.fanOuts.values()];
  const endsOf = (because: EndReason): number => all.filter(({ ended }) => ended?.because === because).length;
  return {
    runs: 1,
    fanOuts: all.length,
    items: all.reduce((sum, { total }) => sum + total, 0),
    ends: {
      'all-done': endsOf('all-done'),
      'too-many-failed': endsOf('too-many-failed'),
      idle: endsOf('idle'),
      deleted: endsOf('deleted'),
    },
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
export const runFanOutSchedules = async (
  firstSeed: number,
  runs: number,
  change: (scenario: FanOutScenario) => FanOutScenario = (scenario) => scenario,
  onRun: (report: FanOutReport, seed: number) => boolean = () => true,
): Promise<FanOutSummary> => {
  let summary = NO_FAN_OUTS;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const report = await runFanOuts(change(fanOutScenarioOf(seed)));
    summary = plusFanOuts(summary, summaryOf(report, seed));
    if (!onRun(report, seed)) break;
  }
  return summary;
};
