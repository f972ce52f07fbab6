import { describe, expect, it } from 'vitest';
import type { FleetName } from '../../src/domain/fleets/ids.ts';
import type { OperationName, Target } from '../../src/domain/ids.ts';
import { memoryFleets } from '../../src/memory/fleets.ts';
import { DYNAMODB, limited } from '../../src/memory/limits.ts';
import { memoryOperations } from '../../src/memory/operations.ts';
import { SortedRows } from '../../src/memory/ordered.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { Remembered } from '../../src/memory/remembered.ts';
import { emptyTables, type Tables } from '../../src/memory/tables.ts';
import { memoryWaiting } from '../../src/memory/waiting.ts';
import { openGate } from '../../src/virtual/gate.ts';

const refused = (why: RegExp) =>
  expect.objectContaining({ name: 'ValidationException', message: expect.stringMatching(why) });

describe.each([
  { kind: 'plain', table: () => new Map<string, unknown>() },
  { kind: 'remembered', table: () => new Remembered<string, unknown>(() => 0) },
  { kind: 'sorted', table: () => new SortedRows<unknown>() },
])('a $kind table', ({ table }) => {
  it.each([
    ['a number below the smallest', { weight: 1e-200 }, /underflow/],
    ['a number above the largest', { sizes: [1, { bytes: 1e126 }] }, /overflow/],
    ['NaN', { at: Number.NaN }, /numeric/],
    ['more than 400 KB', { one: 'é'.repeat(102_400), two: 'é'.repeat(102_401) }, /size/],
  ])('refuses %s, and stays unchanged', (_, row, why) => {
    const rows = limited(table());
    expect(() => rows.set('key', row)).toThrow(refused(why));
    expect([...rows]).toEqual([]);
  });

  it('accepts the smallest and the largest number, and 400 KB', () => {
    const rows = limited(table());
    for (const row of [{ n: 1e-130 }, { n: -9.9e125 }, { n: 0 }, { text: 'x'.repeat(DYNAMODB.item) }])
      expect(rows.set('key', row).get('key')).toBe(row);
  });

  it('refuses empty or too long keys', () => {
    const rows = limited(table(), 10);
    rows.set('é'.repeat(5), {});
    expect(() => rows.set('é'.repeat(6), {})).toThrow(refused(/more than 10 bytes/));
    expect(() => rows.set('', {})).toThrow(refused(/empty/));
    expect(rows.size).toBe(1);
  });
});

/**
 * Tables of tables, whose inner tables are made with their first row, and an index, which the product does not have.
 */
const NESTED = new Set(['waiting', 'waitingTargets', 'waitingCalls', 'processed', 'slotPageKeys']);

it.each(Object.entries(emptyTables()).filter(([name, table]) => table instanceof Map && !NESTED.has(name)))(
  'the table %s refuses what DynamoDB refuses',
  (_, table) => {
    expect(() => (table as Map<string, unknown>).set('key', { at: 1e-200 })).toThrow(refused(/underflow/));
  },
);

describe('a table of tables', () => {
  const target = 'ship/depot=1' as Target;
  const tiny = 1e-200;
  it.each<[string, (tables: Tables) => Promise<unknown>]>([
    ['waiting rows', (tables) => memoryWaiting(tables, openGate).put([{ target, weight: tiny } as never])],
    [
      'waiting Targets',
      (tables) => memoryOperations(tables, openGate).enqueue('ship' as OperationName, { target, since: tiny } as never),
    ],
    [
      'processed keys',
      (tables) =>
        memoryProcessed(tables, openGate).remember(target, [{ key: 'k' as never, marks: {} as never }], tiny, 0),
    ],
    ['nodes', () => memoryFleets().join('fleet' as FleetName, { key: 'node', beat: tiny } as never)],
  ])('refuses invalid rows too: %s', async (_, write) => {
    await expect(write(emptyTables())).rejects.toThrow(refused(/underflow/));
  });
});
