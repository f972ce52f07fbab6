/**
 * The usual scenarios with more faults. Faults always occur. Functions crash twice as often: at 2% of their requests
 * where the usual scenario has no crashes. In two of three scenarios the AWS client sends a quarter of all requests
 * twice. In two of three scenarios functions stand still at 3% of their requests. One of three scenarios therefore has
 * both faults. The caps change one to four times. A failure that needs several of these faults shows up in thousands of
 * scenarios, not in hundreds of thousands.
 */
import { seeded } from '../../src/virtual/random.ts';
import type { Scenario } from './scenario.ts';
import { capsChanging, scenarioOf } from './usual-scenario.ts';

/** A random scenario. The same seed gives the same scenario. */
export const harshScenarioOf = (seed: number): Scenario => {
  const usual = scenarioOf(seed);
  const { faults, faultsEnd, config, sends, changes = [] } = usual;
  const shards = Math.max(...Object.values(config.operations).map((operation) => operation.shards));
  const span = Math.max(...sends.map(({ at }) => at));
  const caps = capsChanging(seeded(seed ^ 0x4a75), span, shards);
  return {
    ...usual,
    faults: {
      ...faults,
      crash: 2 * faults.crash || 0.02,
      ...(seed % 3 === 0 ? {} : { repeat: 0.25 }),
      ...(seed % 3 === 1 ? {} : { pause: 0.03 }),
    },
    faultsEnd: faultsEnd || 300_000,
    changes: [...changes.filter(({ to }) => !to?.concurrency), ...caps].toSorted((a, b) => a.at - b.at),
  };
};
