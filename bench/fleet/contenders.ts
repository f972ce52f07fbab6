/**
 * The contenders that share partitions: Groupage, the published algorithm, and locks with renewals. `SWEPT` are the
 * published algorithm with other choices where its description leaves one open.
 */
import type { FleetOutcome, FleetScenario } from '../../verification/fleets/scenario.ts';
import { runFleetScenario } from '../../verification/fleets/schedule.ts';
import { RACE_SPANS, RACE_SWEEP, type RaceSpans } from '../baselines/fleet/race-spans.ts';
import { runRaces } from '../baselines/fleet/races.ts';
import { SPANS } from '../baselines/fleet/reading.ts';
import { runRenewedLocks } from '../baselines/fleet/renewals.ts';

export const OURS = 'Groupage';

const RUNS = {
  [OURS]: (scenario) => runFleetScenario(scenario),
  published: (scenario) => runRaces(scenario, RACE_SPANS),
  'locks with renewals': (scenario) => runRenewedLocks(scenario, { maximum: 'parentheses', spans: SPANS }),
} satisfies Readonly<Record<string, (scenario: FleetScenario) => Promise<FleetOutcome>>>;

export type MainName = keyof typeof RUNS;
type SweptName = `published, ${string}`;
export type ContenderName = MainName | SweptName;
export const CONTENDERS = Object.keys(RUNS) as readonly MainName[];

const sweptName = (choice: string): SweptName => `published, ${choice}`;
const SWEEPS = new Map<string, RaceSpans>(
  Object.entries(RACE_SWEEP).map(([choice, spans]) => [sweptName(choice), spans]),
);
export const SWEPT: readonly SweptName[] = Object.keys(RACE_SWEEP).map(sweptName);

export const contend = (name: ContenderName, scenario: FleetScenario): Promise<FleetOutcome> => {
  const swept = SWEEPS.get(name);
  return swept ? runRaces(scenario, swept) : RUNS[name as MainName](scenario);
};
