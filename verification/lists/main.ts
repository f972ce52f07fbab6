/**
 * `npm run simulate:lists -- [--runs N] [--seed S]`: looks for a schedule of deferred lists that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { search } from '../batches/search.ts';
import { listScenarioOf } from './scenario.ts';
import { NO_LISTS, plusLists } from './schedules.ts';
import { runLists } from './world.ts';

await search({
  script: 'simulate:lists',
  schedules: { worker: new URL('./worker.ts', import.meta.url), none: NO_LISTS, plus: plusLists },
  replay: (seed) => runLists(listScenarioOf(seed), true),
  count: ({ jobs }) => `${jobs} jobs`,
});
