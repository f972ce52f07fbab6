/** A known bug: a step or port that replaces the real one, to prove that a judge finds the defect. */
import type { Config, Operation } from '../../src/domain/config/resolved.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario, ScheduleSteps } from '../batches/scenario.ts';

export type Bug = Partial<ScheduleSteps>;

/**
 * The name of a bug, its replacement, the promise that it breaks, and the scenarios that show it. @default - any
 * scenario shows it
 */
export type Known<Put, Scenario> = readonly [
  name: string,
  bug: Put,
  promise: RegExp,
  change?: ((scenario: Scenario) => Partial<Scenario>) | undefined,
];
export type KnownBug = Known<Bug, Scenario>;

/** A scenario with a bug put back. */
export const withPatch = <Patched, Scenario extends { readonly patched?: Patched }>(
  [, patched, , change]: Known<Patched, Scenario>,
  scenario: Scenario,
): Scenario => ({ ...scenario, ...change?.(scenario), patched });

/** Runs a step with a changed configuration. */
export const withOperation = <Deps extends { readonly config: Config }>(
  deps: Deps,
  change: (operation: Operation) => Partial<Operation>,
): Deps => ({ ...deps, config: withOperations(deps.config, change) });

/** The bugs with a scenario of their own, one for each scenario: without its bug, the scenario breaks no promise. */
export const oneForEachScenario = <Patch, Scenario>(
  bugs: readonly Known<Patch, Scenario>[],
): readonly { readonly name: string; readonly known: Known<Patch, Scenario> }[] => [
  ...new Map(bugs.flatMap((known) => (known[3] ? [[known[3], { name: known[0], known }] as const] : []))).values(),
];
