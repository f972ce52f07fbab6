import { describe, expect, it } from 'vitest';
import { BATCHES } from '../../verification/batches/kind.ts';
import { merging } from '../../verification/batches/merged.ts';
import { runSchedules } from '../../verification/harness/schedules.ts';
import { atLeast, seed } from './of-this-run.ts';

const RUNS = atLeast(150);

describe('merged requests', () => {
  it(`send no input twice in ${RUNS} schedules from seed ${seed}`, async () => {
    let [inputs, known] = [0, 0];
    const summary = await runSchedules(BATCHES, seed, RUNS, merging, ({ tables, log }) => {
      for (const { call } of log.calls) inputs += call.inputs?.length ?? 0;
      for (const rows of tables.processed.values()) known += rows.size;
      return true;
    });
    expect(summary.violations).toEqual([]);
    expect(inputs).toBeGreaterThan((RUNS * 5) / 3);
    expect(known).toBeGreaterThan(RUNS / 3);
  }, 600_000);
});
