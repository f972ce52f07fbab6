/** Steps that stand in for ours: a bug that is put back. */
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario, ScheduleSteps } from '../batches/scenario.ts';

export type Bug = Partial<ScheduleSteps>;

/** A bug, the promise that it breaks, and where it shows, if not in any schedule. */
export type KnownBug = readonly [
  name: string,
  bug: Bug,
  promise: RegExp,
  where?: (scenario: Scenario) => Partial<Scenario>,
];

/** A step works by another configuration than the one that was made. */
export const withOperation = <Deps extends { readonly config: Config }>(
  deps: Deps,
  change: (operation: Operation) => Partial<Operation>,
): Deps => ({ ...deps, config: withOperations(deps.config, change) });
