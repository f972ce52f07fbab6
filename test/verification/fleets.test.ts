import { describe, expect, it } from 'vitest';
import { FLEETS } from '../../verification/fleets/kind.ts';
import { fleetScenarioOf } from '../../verification/fleets/random-scenario.ts';
import { runFleetScenario } from '../../verification/fleets/schedule.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { FLEET_BUGS } from '../../verification/known-bugs/fleets.ts';
import { atLeast, seed } from './of-this-run.ts';

const RUNS = atLeast(60);

describe('fleets under faults', () => {
  it(`keep every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`fleets from seed ${seed}; replay one with: npm run simulate:fleets -- --trace --seed N`);
    const { violations, nodes, moved } = await runSchedules(FLEETS, seed, RUNS);
    expect(violations).toEqual([]);
    expect(nodes).toBeGreaterThan(RUNS);
    expect(moved).toBeGreaterThan(RUNS);
  });

  it('replay identically from the seed', async () => {
    const traceOf = async () => {
      const trace: string[] = [];
      await runFleetScenario(fleetScenarioOf(seed), { unit: 3_000, onLine: (line) => trace.push(line) });
      return trace;
    };
    const [once, again] = [await traceOf(), await traceOf()];
    expect(again).toEqual(once);
    expect(once.length).toBeGreaterThan(0);
  });
});

describe('the judge of fleets', () => {
  it.each(FLEET_BUGS.map(([name, bug, promise, from]) => ({ name, bug, promise, from })))(
    'finds $name',
    async ({ bug, promise, from }) => {
      const { violations } = await runSchedules(
        FLEETS,
        from,
        600,
        (scenario) => ({ ...scenario, bug }),
        (outcome) => outcome.violations.length === 0,
      );
      expect(violations[0]?.message).toMatch(promise);
    },
  );
});
