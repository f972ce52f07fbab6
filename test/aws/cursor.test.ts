import { describe, expect, it } from 'vitest';
import { fromCursor, parseCursor, printCursor } from '../../src/aws/cursor.ts';
import { InvalidCursor } from '../../src/ports/rows.ts';

/** A query that DynamoDB refuses. */
const refusal = (message: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(message), { name: 'ValidationException' }));

describe('a cursor', () => {
  const shape = { Target: 'string', SealedAt: 'number' } as const;
  const printed = (key: Readonly<Record<string, unknown>>) => printCursor(key).cursor;

  it('is a key of its list, as a page returned it', () => {
    const key = { Target: 'ship', SealedAt: 7 };
    expect(parseCursor(printed(key), shape, { Target: 'ship' })).toEqual(key);
    for (const other of [
      { Target: '', SealedAt: 7 },
      { Target: 'a'.repeat(1_025), SealedAt: 7 },
      { Target: 'ship', SealedAt: 7.5 },
      { Target: 'ship', SealedAt: 7, Entry: 'lock' },
    ])
      expect(() => parseCursor(printed(other), shape, {}), JSON.stringify(other)).toThrow(InvalidCursor);
  });

  // The messages of DynamoDB, DynamoDB Local, dynoxide and ministack.
  it.each([
    'The provided starting key is invalid',
    'The provided starting key is invalid: The provided key element does not match the schema',
    'The provided starting key is outside query boundaries based on provided conditions',
    'The provided starting key does not match the range key predicate',
    'The query can return at most one row and cannot be restarted. The provided starting key is invalid: One or more parameter values are not valid.',
  ])('is invalid if a query fails with: %s', async (message) => {
    await expect(fromCursor('abc', refusal(message))).rejects.toThrow(InvalidCursor);
    // The first page has no cursor, so its error is not the cursor's.
    await expect(fromCursor(undefined, refusal(message))).rejects.toThrow(message);
  });

  it('is not blamed if a query fails for another reason', async () => {
    const message = 'The table does not have the specified index: Targets';
    await expect(fromCursor('abc', refusal(message))).rejects.toThrow(message);
  });
});
