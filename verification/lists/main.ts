/**
 * `npm run simulate:lists -- [--runs N] [--seed S]` searches for a schedule of deferred lists that breaks a promise. `…
 * -- --seed S --trace` replays one schedule and prints its trace.
 */
import { main } from '../harness/main.ts';
import { LISTS } from './kind.ts';

await main(LISTS);
