/**
 * `npm run simulate:fleets -- [--runs N] [--seed S]` searches for a schedule of fleets that breaks a promise. `… --
 * --seed S --trace` replays one schedule and prints its trace.
 */
import { main } from '../harness/main.ts';
import { FLEETS } from './kind.ts';

await main(FLEETS);
