/** Many schedules of fleets, one after the other, and what they came to. */
import type { Millis } from '../../src/domain/ids.ts';
import { fleetScenarioOf } from './random-scenario.ts';
import type { FleetScenario } from './scenario.ts';
import { type RunOptions, runFleetScenario } from './world.ts';

export interface FleetSummary {
  readonly runs: number;
  readonly nodes: number;
  readonly moved: number;
  readonly incidents: number;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

export const NO_FLEETS: FleetSummary = { runs: 0, nodes: 0, moved: 0, incidents: 0, violations: [] };

export const plusFleets = (a: FleetSummary, b: FleetSummary): FleetSummary => ({
  runs: a.runs + b.runs,
  nodes: a.nodes + b.nodes,
  moved: a.moved + b.moved,
  incidents: a.incidents + b.incidents,
  violations: [...a.violations, ...b.violations],
});

/** Longer than in the benchmark: what goes wrong goes wrong between units. */
export const UNIT: Millis = 3_000;

/**
 * Runs `runs` schedules with consecutive seeds.
 *
 * @param how e.g. with a known bug put back @param onRun answers false to stop
 */
export const runFleetSchedules = async (
  firstSeed: number,
  runs: number,
  how: (scenario: FleetScenario) => RunOptions = () => ({}),
  onRun: (violations: readonly string[]) => boolean = () => true,
): Promise<FleetSummary> => {
  let summary = NO_FLEETS;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const scenario = fleetScenarioOf(seed);
    const { moved, violations } = await runFleetScenario(scenario, { unit: UNIT, ...how(scenario) });
    summary = plusFleets(summary, {
      runs: 1,
      nodes: scenario.nodes.length,
      moved,
      incidents: scenario.nodes.flatMap(({ incidents }) => incidents).length,
      violations: violations.map((message) => ({ seed, message })),
    });
    if (!onRun(violations)) break;
  }
  return summary;
};
