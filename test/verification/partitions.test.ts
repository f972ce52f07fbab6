import { describe, expect, it } from 'vitest';
import type { Spent } from '../../src/processes/units.ts';
import { InjectedFault } from '../../src/virtual/faults.ts';
import { Partitions, PER_PARTITION } from '../../verification/batches/partitions.ts';

const writes = (write: number, partition = 'T'): readonly Spent[] => [{ table: 'batch-lock', partition, write }];

describe('a partition key', () => {
  it('gives a second of what it left unused at once, and then a thousand writes a second', () => {
    const { spend } = new Partitions();
    expect(spend(writes(PER_PARTITION.write), 0)).toBe(0);
    // A hundred more are there after 100 ms: whoever asks after 0, 25, 75 and 175 ms meets them the last time.
    expect(spend(writes(100), 0)).toBe(175);
    expect(spend(writes(100), 1_000)).toBe(0);
  });

  it('reserves what was asked for first: who comes later waits for that too', () => {
    const partitions = new Partitions();
    partitions.spend(writes(PER_PARTITION.write), 0);
    const waits = [1, 2, 3, 4].map(() => partitions.spend(writes(500), 0));
    expect(waits).toEqual([775, 1_575, 1_575, 3_175]);
    expect(partitions.throttled).toBe(5 + 6 + 6 + 7);
  });

  it('bears three thousand reads beside, and others have their own', () => {
    const { spend } = new Partitions();
    const reads = (read: number): readonly Spent[] => [{ table: 'batch-lock', partition: 'T', read }];
    expect(spend(writes(1_000), 0)).toBe(0);
    expect(spend(reads(3_000), 0)).toBe(0);
    expect(spend(reads(3), 0)).toBeGreaterThan(0);
    expect(spend(writes(1_000, 'U'), 0)).toBe(0);
    expect(spend([{ table: 'task', write: 5_000 }], 0)).toBe(0);
  });

  it('fails who is throttled in every round, who has used what there was until then and no more', () => {
    const partitions = new Partitions();
    expect(() => partitions.spend(writes(10_000), 0)).toThrow(InjectedFault);
    expect(partitions.gaveUp).toBe(1);
    expect(partitions.spend(writes(1), 3_175 + 1)).toBe(0);
  });

  it('keeps what it did not use for as long as it is told', () => {
    const { spend } = new Partitions({ burst: 300 });
    expect(spend(writes(300_000), 0)).toBe(0);
    expect(spend(writes(1), 0)).toBeGreaterThan(0);
  });

  it('tells which key got most, and the most that a table got within a second', () => {
    const partitions = new Partitions();
    for (let n = 0; n < 10; n += 1)
      partitions.spend([...writes(30, `T${n % 3}`), { table: 'task', write: 7 }], n * 300);
    expect(partitions.hottest()).toEqual({ partition: 'T0', units: 120 });
    expect(partitions.mostWritten('batch-lock')).toBe(120);
    expect(partitions.mostWritten('task')).toBe(28);
  });
});
