/** Steps that stand in for ours: a bug that is put back. */
import type { Scenario, ScheduleSteps } from '../batches/scenario.ts';

export type Bug = Partial<ScheduleSteps>;

/** A bug, the promise that it breaks, and where it shows, if not in any schedule. */
export type KnownBug = readonly [
  name: string,
  bug: Bug,
  promise: RegExp,
  where?: (scenario: Scenario) => Partial<Scenario>,
];
