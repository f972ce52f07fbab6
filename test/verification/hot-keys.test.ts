import { describe, expect, it } from 'vitest';
import { throttled } from '../../src/processes/units.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { runSchedule } from '../../verification/batches/schedule.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';

describe('a partition with little capacity', () => {
  it('delays and refuses calls, and every promise is kept', async () => {
    const seen = { waits: 0, refusals: 0 };
    for (const seed of [1, 2, 3, 4]) {
      const { sends, ...rest } = scenarioOf(seed);
      const { trace, violation } = await runSchedule(
        {
          ...rest,
          faults: NO_FAULTS,
          partitions: { write: 2, read: 20 },
          sends: sends.map(({ body }) => ({ at: 0, body: body.replace(/"depot":\d/, '"depot":1') })),
        },
        true,
      );
      expect(violation).toBeUndefined();
      seen.waits += trace.filter((line) => line.includes('throttled for')).length;
      seen.refusals += trace.filter((line) => line.includes('throttled in every round')).length;
    }
    expect(seen.waits).toBeGreaterThan(0);
    expect(seen.refusals).toBeGreaterThan(0);
  });

  it('may use up the time of a function for calls', async () => {
    expect((await runSchedule(scenarioOf(1_303_042_211))).violation).toBeUndefined();
  });
});

describe('a throttled call', () => {
  it('is not made', async () => {
    const calls: string[] = [];
    const port = { write: async (key: string) => calls.push(key) };
    const spent: unknown[] = [];
    const metered = throttled(
      port,
      { write: ([partition]) => [{ table: 'batch-lock', partition, write: 3 }] },
      async (each) => {
        spent.push(...each);
        if (spent.length > 1) throw new Error('throttled');
      },
    );
    await metered.write('a');
    await expect(metered.write('b')).rejects.toThrow('throttled');
    expect(calls).toEqual(['a']);
    expect(spent).toEqual(['a', 'b'].map((partition) => ({ table: 'batch-lock', partition, write: 3 })));
  });
});
