import { describe, expect, it } from 'vitest';
import { DELIVERIES } from '../../verification/deliveries/kind.ts';
import { deliveryScenarioOf } from '../../verification/deliveries/scenario.ts';
import { runDeliveries } from '../../verification/deliveries/schedule.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { withPatch } from '../../verification/known-bugs/bug.ts';
import { DELIVERY_BUGS } from '../../verification/known-bugs/deliveries.ts';
import { atLeast, seed } from './of-this-run.ts';

const RUNS = atLeast(6);

describe('deliveries', () => {
  it(`under faults keep every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`deliveries from seed ${seed}; replay one with: npm run simulate:deliveries -- --trace --seed N`);
    const { violations, events } = await runSchedules(DELIVERIES, seed, RUNS);
    expect(violations).toEqual([]);
    expect(events).toBeGreaterThan(RUNS);
  }, 120_000);

  it('replay identically from the seed, and from the faults', async () => {
    const once = await runDeliveries(deliveryScenarioOf(seed), true);
    const again = await runDeliveries({ ...deliveryScenarioOf(seed), script: once.happened }, true);
    expect(again.trace).toEqual(once.trace);
    expect(once.trace.length).toBeGreaterThan(10);
  });
});

describe('the judge of deliveries', () => {
  it.each(DELIVERY_BUGS.map((known) => ({ name: known[0], known })))(
    'finds $name',
    async ({ known }) => {
      const [, , promise] = known;
      const { violations } = await runSchedules(
        DELIVERIES,
        1,
        40,
        (scenario) => withPatch(known, scenario),
        (report) => !report.violation,
      );
      expect(violations[0]?.message).toMatch(promise);
    },
    120_000,
  );

  it('finds nothing in the same scenarios without the bugs', async () => {
    for (const where of new Set(DELIVERY_BUGS.map((known) => known[3]))) {
      const { violations } = await runSchedules(DELIVERIES, 1, 1, (scenario) =>
        withPatch(['none', {}, /none/, where], scenario),
      );
      expect(violations).toEqual([]);
    }
  }, 60_000);
});
