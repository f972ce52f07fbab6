import { describe, expect, it } from 'vitest';
import { START } from '../../src/virtual/trace.ts';
import { BATCHES } from '../../verification/batches/kind.ts';
import {
  COOL_DOWN,
  FAILURES,
  outageOfAnHour,
  poisonAmongOthers,
  poisonedBatch,
  poisonedTargets,
} from '../../verification/batches/poison.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { runSchedule } from '../../verification/batches/schedule.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { POISON_BUGS } from '../../verification/known-bugs/poisoning.ts';
import { seed, share } from './of-this-run.ts';

describe('tasks at fault', () => {
  it.each([
    ['one in a batch fails no other, and costs few calls', poisonedBatch, share(24, 200)],
    ['one that keeps opening the circuit fails in the end', poisonAmongOthers, share(3, 10)],
    ['40 Targets with such tasks do not delay a good one', poisonedTargets, share(6, 20)],
  ])('%s', async (_, scenario, runs) => {
    const { violations } = await runSchedules(BATCHES, seed, runs, scenario);
    expect(violations).toEqual([]);
  });
});

/** The number of calls in the outage of a schedule, and after it. */
const callsOf = async (scenario: Scenario): Promise<readonly [inOutage: number, after: number]> => {
  const { violation, log } = await runSchedule(scenario);
  expect(violation).toBeUndefined();
  const end = START + (scenario.poison?.outage?.until ?? 0);
  const inOutage = log.calls.filter(({ at }) => at < end).length;
  return [inOutage, log.calls.length - inOutage];
};

/** In an hour: one test of the downstream in each cool-down, and the failures that open the circuit. */
const TESTS = 3_600_000 / COOL_DOWN + FAILURES;

it('an outage of an hour gets no further call if tasks are isolated, and few when it ends', async () => {
  for (let each = seed; each < seed + share(6, 20); each += 1) {
    const scenario = outageOfAnHour(scenarioOf(each), true);
    const [without, isolating] = [await callsOf(outageOfAnHour(scenarioOf(each), false)), await callsOf(scenario)];
    // Tests of the downstream come at random moments, so their number varies a little. A single batch is tested less
    // often than its parts.
    expect(isolating[0], `seed ${each}`).toBeLessThanOrEqual(Math.max(Math.ceil(without[0] * 1.1), TESTS));
    expect(isolating[1], `seed ${each}`).toBeLessThanOrEqual(without[1] + 2 * scenario.sends.length);
  }
});

describe('the judge of tasks at fault', () => {
  it.each(POISON_BUGS.map((known) => ({ name: known[0], known })))('finds $name', async ({ known }) => {
    const [, steps, promise, scenario, first = 1] = known;
    const { violations } = await runSchedules(
      BATCHES,
      first,
      100,
      (each) => ({ ...scenario(each), steps }),
      (report) => !report.violation,
    );
    expect(violations[0]?.message).toMatch(promise);
  });
});
