import { describe, expect, it } from 'vitest';
import { BATCHES } from '../../verification/batches/kind.ts';
import {
  outageOfAnHour,
  poisonAmongOthers,
  poisonedBatch,
  poisonedTargets,
} from '../../verification/batches/poison.ts';
import { runSchedule } from '../../verification/batches/schedule.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { POISON_BUGS } from '../../verification/known-bugs/poisoning.ts';
import { seed, share } from './of-this-run.ts';

describe('tasks at fault', () => {
  it.each([
    ['one in a batch fails no other, and costs few calls', poisonedBatch, share(24, 200)],
    ['one that keeps opening the circuit fails in the end', poisonAmongOthers, share(3, 20)],
    ['40 Targets with such tasks do not delay a good one', poisonedTargets, share(6, 40)],
  ])('%s', async (_, scenario, runs) => {
    const { violations } = await runSchedules(BATCHES, seed, runs, scenario);
    expect(violations).toEqual([]);
  });
});

it('an outage of an hour costs no further call if tasks are isolated', async () => {
  for (let each = seed; each < seed + share(6, 40); each += 1) {
    const [without, isolating] = [
      await runSchedule(outageOfAnHour(scenarioOf(each), false)),
      await runSchedule(outageOfAnHour(scenarioOf(each), true)),
    ];
    expect([without.violation, isolating.violation]).toEqual([undefined, undefined]);
    expect(isolating.calls, `seed ${each}`).toBeLessThanOrEqual(without.calls);
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
