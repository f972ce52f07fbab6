/**
 * `npm run simulate:fan-outs -- [--runs N] [--seed S]`: looks for a schedule of fan-outs that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { search } from '../batches/search.ts';
import { fanOutScenarioOf } from './scenario.ts';
import { NO_FAN_OUTS, plusFanOuts } from './schedules.ts';
import { runFanOuts } from './world.ts';

await search({
  script: 'simulate:fan-outs',
  schedules: { worker: new URL('./worker.ts', import.meta.url), none: NO_FAN_OUTS, plus: plusFanOuts },
  replay: (seed) => runFanOuts(fanOutScenarioOf(seed), true),
  count: ({ items }) => `${items} items`,
});
