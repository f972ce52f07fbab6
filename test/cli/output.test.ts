import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ago, ahead, printable, printJson, table } from '../../tools/terminal.ts';
import { ACTED_UPON, actedUponIn } from '../factories/terminal.ts';

describe('text of a task', () => {
  it('is printed without terminal codes', () => {
    expect(printable(ACTED_UPON)).toBe('\ufffd'.repeat(ACTED_UPON.length));
    expect(printable('\u001b[2J\u001b]0;title\u0007 ünï ✓ \u{1f600}')).toBe(
      '\ufffd[2J\ufffd]0;title\ufffd ünï ✓ \u{1f600}',
    );
    expect(table(['NAME'], [[`a${ACTED_UPON}`]]).split('\n')[1]).toBe(`a${'\ufffd'.repeat(ACTED_UPON.length)}`);
  });

  it('is the same JSON when printed as JSON, without terminal codes', () => {
    expect(printJson('{"a":"\u009b2J\u007f\u2028\u202e","b":\t1,\r\n"c":2}')).toBe(
      '{"a":"\\u009b2J\\u007f\\u2028\\u202e","b":\t1,\r\n"c":2}',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue({ stringUnit: 'binary' }),
          fc.string({ unit: 'binary' }),
          fc.constant({ [ACTED_UPON]: ACTED_UPON }),
        ),
        (value) => {
          const printed = printJson(JSON.stringify(value));
          expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(value)));
          expect(actedUponIn(printed)).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

it('a time is printed relative to now, before and after', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(ago('2025-12-31T23:59:57.000Z', now)).toBe('3.0 s');
  expect(ago('2026-01-01T00:00:01.000Z', now)).toBe('0.0 s');
  expect(ahead('2026-01-01T00:05:00.000Z', now)).toBe('5 min');
  expect(ahead('2026-01-01T00:00:00.000Z', now)).toBeUndefined();
});
