/** Many schedules of deliveries, one after the other, and what they came to. */
import { type FaultCounts, noFaultCounts, plusFaults } from '../../src/virtual/faults.ts';
import { type DeliveryScenario, deliveryScenarioOf } from './scenario.ts';
import { type DeliveryReport, runDeliveries } from './world.ts';

export interface DeliverySummary {
  readonly runs: number;
  readonly events: number;
  readonly givenUp: number;
  readonly faults: FaultCounts;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

export const NO_DELIVERIES: DeliverySummary = {
  runs: 0,
  events: 0,
  givenUp: 0,
  faults: noFaultCounts(),
  violations: [],
};

export const plusDeliveries = (a: DeliverySummary, b: DeliverySummary): DeliverySummary => ({
  runs: a.runs + b.runs,
  events: a.events + b.events,
  givenUp: a.givenUp + b.givenUp,
  faults: plusFaults(a.faults, b.faults),
  violations: [...a.violations, ...b.violations],
});

const summaryOf = ({ ledger, faults, violation }: DeliveryReport, seed: number): DeliverySummary => ({
  runs: 1,
  events: ledger.sent.size,
  givenUp: [...ledger.sent.values()].filter(({ givenUpAt }) => givenUpAt !== undefined).length,
  faults,
  violations: violation ? [{ seed, message: violation.message }] : [],
});

/**
 * Runs `runs` schedules with consecutive seeds.
 *
 * @param change alters each scenario, e.g. to put a known bug back.
 * @param onRun is called after every run; answer false to stop.
 */
export const runDeliverySchedules = async (
  firstSeed: number,
  runs: number,
  change: (scenario: DeliveryScenario) => DeliveryScenario = (scenario) => scenario,
  onRun: (report: DeliveryReport, seed: number) => boolean = () => true,
): Promise<DeliverySummary> => {
  let summary = NO_DELIVERIES;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const report = await runDeliveries(change(deliveryScenarioOf(seed)));
    summary = plusDeliveries(summary, summaryOf(report, seed));
    if (!onRun(report, seed)) break;
  }
  return summary;
};
