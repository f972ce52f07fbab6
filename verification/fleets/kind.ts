/** Schedules of fleets, and the figures that are counted. */
import type { Millis } from '../../src/domain/ids.ts';
import type { Kind } from '../harness/schedules.ts';
import { fleetScenarioOf } from './random-scenario.ts';
import type { FleetOutcome, FleetScenario } from './scenario.ts';
import { runFleetScenario } from './schedule.ts';

const NONE = { nodes: 0, moved: 0, incidents: 0 };

/** The duration of a unit of work, in ms. It is longer than in the benchmark, so that faults occur within units. */
export const UNIT: Millis = 3_000;

export const FLEETS: Kind<FleetScenario, FleetOutcome, typeof NONE> = {
  script: 'simulate:fleets',
  main: new URL('./main.ts', import.meta.url),
  sizes: { usual: { scenarioOf: fleetScenarioOf } },
  run: async (scenario, traced) => {
    const trace = [JSON.stringify(scenario)];
    const onLine = traced ? { onLine: (line: string) => void trace.push(line) } : {};
    return { ...(await runFleetScenario(scenario, { unit: UNIT, ...onLine })), trace };
  },
  brokenIn: ({ violations }) => violations,
  none: NONE,
  figuresOf: ({ moved }, { nodes }) => ({
    nodes: nodes.length,
    moved,
    incidents: nodes.flatMap(({ incidents }) => incidents).length,
  }),
  inWords: ({ nodes, moved }) => `${nodes} nodes, ${moved} moves`,
};
