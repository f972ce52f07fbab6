/**
 * `npm run simulate:deliveries -- [--runs N] [--seed S]`: looks for a schedule of deliveries that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { main } from '../harness/main.ts';
import { DELIVERIES } from './kind.ts';

await main(DELIVERIES);
