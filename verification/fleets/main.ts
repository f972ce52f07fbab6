/**
 * `npm run simulate:fleets -- [--runs N] [--seed S]`: looks for a schedule of fleets that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { search } from '../batches/search.ts';
import { fleetScenarioOf } from './random-scenario.ts';
import { NO_FLEETS, plusFleets, UNIT } from './schedules.ts';
import { runFleetScenario } from './world.ts';

await search({
  script: 'simulate:fleets',
  schedules: { worker: new URL('./worker.ts', import.meta.url), none: NO_FLEETS, plus: plusFleets },
  replay: async (seed) => {
    const trace: string[] = [];
    const scenario = fleetScenarioOf(seed);
    trace.push(JSON.stringify(scenario));
    const { violations } = await runFleetScenario(scenario, { unit: UNIT, onLine: (line) => trace.push(line) });
    return { trace, violation: violations[0] };
  },
  count: ({ nodes, moved }) => `${nodes} nodes, ${moved} moves`,
});
