import { describe, expect, it } from 'vitest';
import { merging } from '../../src/simulation/merged.ts';
import { runSchedules } from '../../src/simulation/schedules.ts';

const seed = Number(process.env.GROUPAGE_SEED ?? Date.now() % 1_000_000_000);

describe('requests that are merged, under all faults', () => {
  it(`succeed when their inputs were done, and those are not done again: 300 schedules from seed ${seed}`, async () => {
    let [inputs, known] = [0, 0];
    const summary = await runSchedules(seed, 300, merging, ({ tables, log }) => {
      for (const { call } of log.calls) inputs += call.inputs?.length ?? 0;
      for (const rows of tables.processed.values()) known += rows.size;
      return true;
    });
    expect(summary.violations).toEqual([]);
    expect(inputs).toBeGreaterThan(500);
    expect(known).toBeGreaterThan(100);
  }, 600_000);
});
