import { expect, it } from 'vitest';
import { rowsOf } from '../../tools/verify-aws/suite/relayed.ts';

it('an answer of any length has rows that fit, the first of them last', () => {
  const body = 'ü'.repeat(250_000);
  const rows = rowsOf('7', { status: 200, headers: {}, body });
  expect(rows.map(({ Id }) => Id)).toEqual(['7#2', '7#1', '7#0']);
  expect(rows.every((row) => Buffer.byteLength(JSON.stringify(row)) < 400_000)).toBe(true);
  expect(
    rows
      .toReversed()
      .map((row) => row.body)
      .join(''),
  ).toBe(body);
  expect(rowsOf('8', { status: 204, headers: {}, body: '' })).toHaveLength(1);
});
