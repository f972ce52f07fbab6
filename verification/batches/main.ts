/**
 * `npm run simulate:faults -- [--size harsh | large | crowded | long] [--runs N | --lives N] [--seed S]` searches for a schedule
 * that breaks a promise. `… -- --seed S --trace` replays one schedule and prints its trace. With `--shrink` it replays
 * the smallest schedule that breaks the same promise.
 */
import { main } from '../harness/main.ts';
import { BATCHES } from './kind.ts';

await main(BATCHES);
