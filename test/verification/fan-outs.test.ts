import { describe, expect, it } from 'vitest';
import { FAN_OUTS } from '../../verification/fan-outs/kind.ts';
import { fanOutScenarioOf } from '../../verification/fan-outs/scenario.ts';
import { runFanOuts } from '../../verification/fan-outs/schedule.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { oneForEachScenario, withPatch } from '../../verification/known-bugs/bug.ts';
import { FAN_OUT_BUGS } from '../../verification/known-bugs/fan-outs.ts';
import { atLeast, seed, share } from './of-this-run.ts';

const RUNS = atLeast(150);

/**
 * The seeds at which the search for rarer bugs begins: the first schedules that showed them, as in known-bugs.test.ts.
 */
const BEGINS: Readonly<Record<string, number>> = {
  'walk continues after an addition': 5_539,
  'parent node written anew': 282,
  'header read before the node is written': 181,
  'token of an addition read once': 56,
};

describe('fan-outs under faults', () => {
  it(`keep every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`fan-outs from seed ${seed}; replay one with: npm run simulate:fan-outs -- --trace --seed N`);
    const { violations, ends, items } = await runSchedules(FAN_OUTS, seed, RUNS);
    expect(violations).toEqual([]);
    expect(items).toBeGreaterThan(RUNS);
    for (const [because, count] of Object.entries(ends)) expect(count, because).toBeGreaterThan(0);
  }, 120_000);

  it('replay identically from the seed, and from the faults', async () => {
    const [once, again] = [
      await runFanOuts(fanOutScenarioOf(seed), true),
      await runFanOuts(fanOutScenarioOf(seed), true),
    ];
    expect(again.trace).toEqual(once.trace);
    expect(once.trace.length).toBeGreaterThan(10);
    const scripted = await runFanOuts({ ...fanOutScenarioOf(seed), script: once.happened }, true);
    expect(scripted.trace).toEqual(once.trace);
  });
});

describe('the judge of fan-outs', () => {
  it.each(FAN_OUT_BUGS.map((known) => ({ name: known[0], known })))(
    'finds $name',
    async ({ known }) => {
      const [name, , promise] = known;
      const { violations } = await runSchedules(
        FAN_OUTS,
        BEGINS[name] ?? 1,
        4_000,
        (scenario) => withPatch(known, scenario),
        (report) => !report.violation,
      );
      expect(violations[0]?.message).toMatch(promise);
    },
    120_000,
  );

  it('begins its searches for known bugs only', () => {
    expect(FAN_OUT_BUGS.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(BEGINS)));
  });

  it.each(oneForEachScenario(FAN_OUT_BUGS))(
    'finds nothing without $name',
    async ({ known: [name, , promise, where] }) => {
      const { violations } = await runSchedules(FAN_OUTS, 1, share(10, 20), (scenario) =>
        withPatch([name, {}, promise, where], scenario),
      );
      expect(violations).toEqual([]);
    },
    120_000,
  );
});
