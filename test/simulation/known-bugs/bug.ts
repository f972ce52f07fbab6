/** Steps that stand in for ours: a bug that is put back. */
import type { Steps } from '../../../src/simulation/functions.ts';

export type Bug = Partial<Steps>;
