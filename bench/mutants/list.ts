/** All mutants. */
import { ADAPTERS } from './adapters.ts';
import { AROUND } from './around.ts';
import type { Mutant } from './mutant.ts';
import { PURE } from './pure.ts';
import { STEPS } from './steps.ts';

export const MUTANTS: readonly Mutant[] = [...PURE, ...STEPS, ...ADAPTERS, ...AROUND];
