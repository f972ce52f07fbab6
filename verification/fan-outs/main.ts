/**
 * `npm run simulate:fan-outs -- [--runs N] [--seed S]` searches for a schedule of fan-outs that breaks a promise. `… --
 * --seed S --trace` replays one schedule and prints its trace.
 */
import { main } from '../harness/main.ts';
import { FAN_OUTS } from './kind.ts';

await main(FAN_OUTS);
