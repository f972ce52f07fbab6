/**
 * All known bugs of tasks: defects of earlier versions, and defects invented to prove that the judges find them. Each
 * bug replaces a single step or port. The tests put each bug back, and a simulated schedule must break the promise that
 * the bug names.
 */
import type { Scenario } from '../batches/scenario.ts';
import type { KnownBug } from './bug.ts';
import { HANDLING_BUGS } from './handling.ts';
import { LEADING_BUGS } from './leading.ts';
import { LIMIT_BUGS } from './limiting.ts';
import { REGISTERING_BUGS } from './registering.ts';
import { REPAIRING_BUGS } from './repairing.ts';
import { RESULT_BUGS } from './results.ts';
import { SHARING_BUGS } from './sharing.ts';
import { LOAD_BUGS } from './under-load.ts';

export const KNOWN_BUGS: readonly KnownBug[] = [
  ...LEADING_BUGS,
  ...REGISTERING_BUGS,
  ...HANDLING_BUGS,
  ...LIMIT_BUGS,
  ...RESULT_BUGS,
  ...SHARING_BUGS,
  ...LOAD_BUGS,
  ...REPAIRING_BUGS,
];

/** A schedule with a bug put back. The patrol is off, because it would repair many of the defects. */
export const withBug = ([, steps, , change]: KnownBug, scenario: Scenario): Scenario => ({
  ...scenario,
  steps,
  patrol: false,
  purges: [],
  ...change?.(scenario),
});
