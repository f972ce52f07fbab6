import { expect, it } from 'vitest';
import { skewOf } from '../../tools/cli/commands/doctor/settings.ts';

/** The Date header has whole seconds: 12:00:00. */
const NOON = 'Sun, 22 Nov 2026 12:00:00 GMT';
const noon = Date.parse(NOON);

it.each([
  ['a server that wrote it during the request', noon - 100, noon + 50, 0],
  ['a server that wrote it within the second of its date', noon + 900, noon + 990, 0],
  ['this machine ahead', noon + 61_000, noon + 61_500, 60_000],
  ['this machine behind', noon - 60_500, noon - 60_000, -60_000],
])('the measured clock difference is no larger than the date proves: %s', (_, asked, heard, skew) => {
  expect(skewOf(NOON, asked, heard)).toBe(skew);
});

it('a missing or invalid date gives no clock difference', () => {
  expect([skewOf(null, 0, 1), skewOf('yesterday', 0, 1)]).toEqual([undefined, undefined]);
});
