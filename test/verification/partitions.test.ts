import { describe, expect, it } from 'vitest';
import type { Spent } from '../../src/processes/units.ts';
import { InjectedFault } from '../../src/virtual/faults.ts';
import { Partitions, PER_PARTITION } from '../../verification/batches/partitions.ts';

const writes = (write: number, partition = 'T'): readonly Spent[] => [{ table: 'batch-lock', partition, write }];

describe('a partition key', () => {
  it('gives one second of unused capacity, then 1,000 writes a second', () => {
    const { spend } = new Partitions();
    expect(spend(writes(PER_PARTITION.write), 0)).toBe(0);
    // 100 units more are free after 100 ms. The client retries after 25, 75 and 175 ms, and succeeds the last time.
    expect(spend(writes(100), 0)).toBe(175);
    expect(spend(writes(100), 1_000)).toBe(0);
  });

  it('reserves units in the order of requests', () => {
    const partitions = new Partitions();
    partitions.spend(writes(PER_PARTITION.write), 0);
    const waits = [1, 2, 3, 4].map(() => partitions.spend(writes(500), 0));
    expect(waits).toEqual([775, 1_575, 1_575, 3_175]);
    expect(partitions.throttled).toBe(5 + 6 + 6 + 7);
  });

  it('has 3,000 reads a second beside the writes, apart from other keys', () => {
    const { spend } = new Partitions();
    const reads = (read: number): readonly Spent[] => [{ table: 'batch-lock', partition: 'T', read }];
    expect(spend(writes(1_000), 0)).toBe(0);
    expect(spend(reads(3_000), 0)).toBe(0);
    expect(spend(reads(3), 0)).toBeGreaterThan(0);
    expect(spend(writes(1_000, 'U'), 0)).toBe(0);
    expect(spend([{ table: 'task', write: 5_000 }], 0)).toBe(0);
  });

  it('fails a request that is throttled in every round', () => {
    const partitions = new Partitions();
    expect(() => partitions.spend(writes(10_000), 0)).toThrow(InjectedFault);
    expect(partitions.gaveUp).toBe(1);
    expect(partitions.spend(writes(1), 3_175 + 1)).toBe(0);
  });

  it('keeps unused capacity for the configured time', () => {
    const { spend } = new Partitions({ burst: 300 });
    expect(spend(writes(300_000), 0)).toBe(0);
    expect(spend(writes(1), 0)).toBeGreaterThan(0);
  });

  it('reports the hottest key, and the most units of a table in a second', () => {
    const partitions = new Partitions();
    for (let n = 0; n < 10; n += 1)
      partitions.spend([...writes(30, `T${n % 3}`), { table: 'task', write: 7 }], n * 300);
    expect(partitions.hottest()).toEqual({ partition: 'T0', units: 120 });
    expect(partitions.mostWritten('batch-lock')).toBe(120);
    expect(partitions.mostWritten('task')).toBe(28);
  });
});
