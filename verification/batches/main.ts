/**
 * `npm run simulate:faults -- [--size harsh | large | long] [--runs N | --lives N] [--seed S]`: looks for a schedule that breaks a
 * promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it; with `--shrink`, the
 * smallest one that breaks the same promise.
 */
import { main } from '../harness/main.ts';
import { BATCHES } from './kind.ts';

await main(BATCHES);
