/**
 * The usual scenarios with four changes, all of them with faults. While these last, the AWS client sends a quarter of all requests twice,
 * functions crash twice as often, and 3% of all requests are followed by a pause of the function. The caps change in each scenario.
 * A failure that needs several of these shows up in thousands of scenarios, not in hundreds of thousands.
 */
import { seeded } from './random.ts';
import { capsChanging, scenarioOf } from './scenario.ts';
import type { Scenario } from './world.ts';

/** A random scenario; the same seed gives the same one. */
export const harshScenarioOf = (seed: number): Scenario => {
  const usual = scenarioOf(seed);
  const { faults, faultsEnd, config, sends, changes = [] } = usual;
  const shards = Math.max(...Object.values(config.operations).map((operation) => operation.shards));
  const span = Math.max(...sends.map(({ at }) => at));
  const caps = capsChanging(seeded(seed ^ 0x4a75), span, shards);
  return {
    ...usual,
    faults: { ...faults, repeat: 0.25, crash: 2 * faults.crash || 0.02, pause: 0.03 },
    faultsEnd: faultsEnd || 300_000,
    changes: [...changes.filter(({ to }) => !to?.concurrency), ...caps].toSorted((a, b) => a.at - b.at),
  };
};
