/** Steps that stand in for ours: a bug that is put back. */
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario, ScheduleSteps } from '../batches/scenario.ts';

export type Bug = Partial<ScheduleSteps>;

/** A bug, the promise that it breaks, and where it shows, if not in any schedule. */
export type Known<Put, Scenario> = readonly [
  name: string,
  bug: Put,
  promise: RegExp,
  where?: ((scenario: Scenario) => Partial<Scenario>) | undefined,
];
export type KnownBug = Known<Bug, Scenario>;

/** A scenario in which a bug is back. */
export const withPatch = <Patched, Scenario extends { readonly patched?: Patched }>(
  [, patched, , where]: Known<Patched, Scenario>,
  scenario: Scenario,
): Scenario => ({ ...scenario, ...where?.(scenario), patched });

/** A step works by another configuration than the one that was made. */
export const withOperation = <Deps extends { readonly config: Config }>(
  deps: Deps,
  change: (operation: Operation) => Partial<Operation>,
): Deps => ({ ...deps, config: withOperations(deps.config, change) });
