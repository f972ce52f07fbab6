/**
 * `npm run simulate:deliveries -- [--runs N] [--seed S]` searches for a schedule of deliveries that breaks a promise.
 * `… -- --seed S --trace` replays one schedule and prints its trace.
 */
import { main } from '../harness/main.ts';
import { DELIVERIES } from './kind.ts';

await main(DELIVERIES);
