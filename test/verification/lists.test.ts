import { describe, expect, it } from 'vitest';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { oneForEachScenario, withPatch } from '../../verification/known-bugs/bug.ts';
import { LIST_BUGS } from '../../verification/known-bugs/lists.ts';
import { LISTS } from '../../verification/lists/kind.ts';
import { listScenarioOf } from '../../verification/lists/scenario.ts';
import { runLists } from '../../verification/lists/schedule.ts';
import { atLeast, seed } from './of-this-run.ts';

const RUNS = atLeast(150);

/**
 * The seeds at which the search for rarer bugs begins: the first schedules that showed them, as in known-bugs.test.ts.
 */
const BEGINS: Readonly<Record<string, number>> = {
  'token of an append read once': 118,
  'lost lease renewed': 50,
};

describe('deferred lists under faults', () => {
  it(`keep every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`lists from seed ${seed}; replay one with: npm run simulate:lists -- --trace --seed N`);
    const { violations, ends, jobs, tasks, faults } = await runSchedules(LISTS, seed, RUNS);
    expect(violations).toEqual([]);
    expect(faults.conflict).toBeGreaterThan(0);
    expect(jobs).toBeGreaterThan(RUNS);
    expect(tasks).toBeGreaterThan(RUNS / 2);
    for (const [end, count] of Object.entries(ends)) expect(count, end).toBeGreaterThan(0);
  }, 120_000);

  it('replay identically from the seed, and from the faults', async () => {
    const [once, again] = [await runLists(listScenarioOf(seed), true), await runLists(listScenarioOf(seed), true)];
    expect(again.trace).toEqual(once.trace);
    expect(once.trace.length).toBeGreaterThan(10);
    const scripted = await runLists({ ...listScenarioOf(seed), script: once.happened }, true);
    expect(scripted.trace).toEqual(once.trace);
  });
});

describe('the judge of deferred lists', () => {
  it.each(LIST_BUGS.map((known) => ({ name: known[0], known })))(
    'finds $name',
    async ({ known }) => {
      const [name, , promise] = known;
      const { violations } = await runSchedules(
        LISTS,
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
    expect(LIST_BUGS.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(BEGINS)));
  });

  it.each(oneForEachScenario(LIST_BUGS))(
    'finds nothing without $name',
    async ({ known: [name, , promise, where] }) => {
      const { violations } = await runSchedules(LISTS, 1, 15, (scenario) =>
        withPatch([name, {}, promise, where], scenario),
      );
      expect(violations).toEqual([]);
    },
    60_000,
  );
});
