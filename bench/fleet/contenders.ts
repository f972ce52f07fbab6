/** The contenders that share partitions: Groupage, and the published algorithm with each of its two formulas. */
import type { FleetOutcome, FleetScenario } from '../../verification/fleets/scenario.ts';
import { runFleetScenario } from '../../verification/fleets/schedule.ts';
import { runPublishedFleet } from '../baselines/fleet/published.ts';
import { SPANS } from '../baselines/fleet/reading.ts';

export const OURS = 'Groupage';

const RUNS = {
  [OURS]: (scenario) => runFleetScenario(scenario),
  'published, ceil(P / N)': (scenario) => runPublishedFleet(scenario, { maximum: 'parentheses', spans: SPANS }),
  'published, floor(P / N) + 1': (scenario) => runPublishedFleet(scenario, { maximum: 'sentence', spans: SPANS }),
} satisfies Readonly<Record<string, (scenario: FleetScenario) => Promise<FleetOutcome>>>;

export type ContenderName = keyof typeof RUNS;
export const CONTENDERS = Object.keys(RUNS) as readonly ContenderName[];

export const contend = (name: ContenderName, scenario: FleetScenario): Promise<FleetOutcome> => RUNS[name](scenario);
