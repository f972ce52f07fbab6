/**
 * `npm run simulate:fleets -- [--runs N] [--seed S]`: looks for a schedule of fleets that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { main } from '../harness/main.ts';
import { FLEETS } from './kind.ts';

await main(FLEETS);
