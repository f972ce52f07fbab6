/**
 * `npm run simulate:deliveries -- [--runs N] [--seed S]`: looks for a schedule of deliveries that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { search } from '../batches/search.ts';
import { deliveryScenarioOf } from './scenario.ts';
import { NO_DELIVERIES, plusDeliveries } from './schedules.ts';
import { runDeliveries } from './world.ts';

await search({
  script: 'simulate:deliveries',
  schedules: { worker: new URL('./worker.ts', import.meta.url), none: NO_DELIVERIES, plus: plusDeliveries },
  replay: (seed) => runDeliveries(deliveryScenarioOf(seed), true),
  count: ({ events }) => `${events} events`,
});
