import { expect, it } from 'vitest';
import { CALLS_KEPT, callRecord, lastCalls } from '../../src/domain/batches/call-record.ts';
import { id, NOW } from '../factories/factories.ts';

const members = Array.from({ length: 100 }, (_, n) => id(`task-${n}`));
const CALL = { attempt: 1, at: NOW, took: 12 };
const made = (numbers: readonly number[]) =>
  callRecord(
    CALL,
    { kind: 'all-succeeded' },
    numbers.map((n) => members[n - 1] ?? id('unknown')),
    members,
  );

it.each([
  [[7], '7'],
  [[1, 2, 3], '1-3'],
  [[5, 1, 2, 9, 8], '1-2,5,8-9'],
  [Array.from({ length: 50 }, (_, n) => 2 * n + 1), /^1,3,5,(\d+,)+…$/],
])('a call names its members by their numbers, as ranges: %#', (numbers, expected) => {
  const { members: named, items } = made(numbers);
  expect(items).toBe(numbers.length);
  expect(named).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  expect(named?.length).toBeLessThan(64);
});

it('a call of all members names none; a long reason and quote are shortened', () => {
  const answer = { kind: 'unavailable', mayRetryAtOnce: false, reason: 'r'.repeat(999), quote: '\u{1f69a}'.repeat(99) };
  const record = callRecord(CALL, answer as never, members, members);
  expect(record).not.toHaveProperty('members');
  expect([record.reason.length, record.quote?.length]).toEqual([160, 100]);
  expect(record.quote?.isWellFormed()).toBe(true);
  expect(record.isError).toBe(true);
});

it('a batch keeps its last calls', () => {
  const calls = Array.from({ length: 30 }, (_, n) => ({ ...made([1]), attempt: n }));
  const kept = lastCalls(calls.slice(0, 15), calls.slice(15));
  expect(kept.map(({ attempt }) => attempt)).toEqual(Array.from({ length: CALLS_KEPT }, (_, n) => n + 10));
});
