/**
 * `npm run simulate:lists -- [--runs N] [--seed S]`: looks for a schedule of deferred lists that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { main } from '../harness/main.ts';
import { LISTS } from './kind.ts';

await main(LISTS);
