import { describe, expect, it } from 'vitest';
import { runNumber } from '../../src/domain/tasks/task.ts';
import { fanningOut } from '../../verification/batches/fanned-out.ts';
import { BATCHES } from '../../verification/batches/kind.ts';
import { runSchedule } from '../../verification/batches/schedule.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { seed, share } from './of-this-run.ts';

const RUNS = share(80, 150);

describe('fan-out tasks', () => {
  it(`ack their items in ${RUNS} schedules from seed ${seed}`, async () => {
    let [complete, open, failed, redriven, levels] = [0, 0, 0, 0, 0];
    const summary = await runSchedules(BATCHES, seed, RUNS, fanningOut, ({ tables }) => {
      for (const { status, ended, groups } of tables.fanOuts.values()) {
        if (status === 'complete') complete += 1;
        else open += 1;
        failed += ended?.failed ?? 0;
        levels = Math.max(levels, Math.ceil(Math.log(groups) / Math.log(3)));
      }
      for (const task of tables.tasks.values())
        if (task.fanOutItem !== undefined && runNumber(task) > 1 && task.state.status === 'succeeded') redriven += 1;
      return true;
    });
    expect(summary.violations).toEqual([]);
    expect(complete).toBeGreaterThan(RUNS / 2);
    expect(open + complete).toBeGreaterThan((RUNS * 14) / 15);
    expect(failed).toBeGreaterThan(RUNS / 3);
    // The redriven items must have succeeded.
    expect(redriven).toBeGreaterThan(RUNS / 6);
    expect(levels).toBe(3);
  }, 600_000);

  it('end after a crash that blocks their Target during a pause', async () => {
    const { violation } = await runSchedule(fanningOut(scenarioOf(630_502_774)));
    expect(violation).toBeUndefined();
  });

  it('may be acked twice by one function, up the whole tree', async () => {
    const { violation } = await runSchedule(scenarioOf(1_303_080_645));
    expect(violation).toBeUndefined();
  });

  it('are in every fifth schedule', () => {
    expect(scenarioOf(20).items).toBeGreaterThan(0);
    expect(scenarioOf(21).items).toBeUndefined();
    expect(fanningOut(scenarioOf(20))).toEqual(scenarioOf(20));
  });
});
