/**
 * Bugs that were made once, by drafts of the rules, by this code or to try the checker, to be put back where the
 * simulation must find them.
 * They stand in for single steps or ports.
 */
import type { Scenario } from '../batches/scenario.ts';
import type { KnownBug } from './bug.ts';
import { HANDLING_BUGS } from './handling.ts';
import { LEADING_BUGS } from './leading.ts';
import { MANY_BUGS } from './many.ts';
import { REGISTERING_BUGS } from './registering.ts';
import { REPAIRING_BUGS } from './repairing.ts';
import { RESULT_BUGS } from './results.ts';
import { SHARING_BUGS } from './sharing.ts';

export const KNOWN_BUGS: readonly KnownBug[] = [
  ...LEADING_BUGS,
  ...REGISTERING_BUGS,
  ...HANDLING_BUGS,
  ...RESULT_BUGS,
  ...SHARING_BUGS,
  ...MANY_BUGS,
  ...REPAIRING_BUGS,
];

/** A schedule with a bug put back. */
export const withBug = ([, steps, , where]: KnownBug, scenario: Scenario): Scenario => ({
  ...scenario,
  steps,
  patrol: false,
  purges: [],
  ...where?.(scenario),
});
