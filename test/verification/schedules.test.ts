import { describe, expect, it } from 'vitest';
import type { Steps } from '../../src/processes/functions.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { BATCHES } from '../../verification/batches/kind.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { runSchedule } from '../../verification/batches/schedule.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { runInParallel } from '../../verification/harness/parallel.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { failedOpenContinues } from '../../verification/known-bugs/leading.ts';
import { seed, share } from './of-this-run.ts';

const RUNS = share(150, 200);

describe('the core under all faults', () => {
  it(`keeps every promise in ${RUNS} schedules from seed ${seed}`, async () => {
    console.log(`schedules from seed ${seed}; replay one with: npm run simulate:faults -- --trace --seed N`);
    const summary = await runInParallel(BATCHES, seed, { runs: RUNS }, ({ runs, violations }) => {
      if (violations.length > 0) console.log(`${runs} schedules: ${violations.map((each) => each.seed).join(', ')}`);
    });
    expect(summary.violations).toEqual([]);
    expect(summary.tasks).toBeGreaterThan(RUNS);
    // The batch flow has no transactions.
    const { conflict: _, ...ofTheFlow } = summary.faults;
    for (const [kind, count] of Object.entries(ofTheFlow)) expect(count, kind).toBeGreaterThan(0);
  }, 600_000);

  it('replays identically from the seed, and from the faults', async () => {
    for (const each of [seed, 4_542]) {
      const [once, again] = [await runSchedule(scenarioOf(each), true), await runSchedule(scenarioOf(each), true)];
      expect(again.trace).toEqual(once.trace);
      expect(once.trace.length).toBeGreaterThan(10);
      const scripted = await runSchedule({ ...scenarioOf(each), script: once.happened }, true);
      expect(scripted.trace).toEqual(once.trace);
    }
  });
});

describe('schedules on several threads', () => {
  it('give the same summary as on one thread', async () => {
    const parallel = await runInParallel(BATCHES, seed, { runs: 23 }, () => {});
    expect(parallel).toEqual(await runSchedules(BATCHES, seed, 23));
  });

  it('begin as on one thread', async () => {
    for (const each of [290_639_923, 290_639_933, 290_639_982, seed])
      expect(await runInParallel(BATCHES, each, { runs: 1 }, () => {}), `${each}`).toEqual(
        await runSchedules(BATCHES, each, 1),
      );
  });
});

describe('the cost without faults', () => {
  /** Claims per candidate. Each claim is a write that costs, whether it succeeds or not. */
  const claimsEach = async (steps: Partial<Steps>, from: number): Promise<number> => {
    let [claims, candidates] = [0, 0];
    const atOnce = (scenario: Scenario): Scenario => ({
      ...scenario,
      steps,
      patrol: false,
      purges: [],
      faults: NO_FAULTS,
      sends: scenario.sends.map(({ at, body }) => ({ at: at / 20, body })),
    });
    await runSchedules(BATCHES, from, 40, atOnce, ({ tables }) => {
      claims += tables.claims;
      for (const batch of tables.batches.values()) candidates += batch.candidates.length;
      return true;
    });
    return claims / candidates;
  };

  it('is one claim a task, with rare exceptions', async () => {
    expect(await claimsEach({}, seed)).toBeLessThan(1.01);
    // Few schedules contain a losing leader.
    const known = 1;
    expect(await claimsEach(failedOpenContinues, known)).toBeGreaterThan(await claimsEach({}, known));
  });
});
