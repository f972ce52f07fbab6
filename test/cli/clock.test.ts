import { expect, it } from 'vitest';
import { skewOf } from '../../tools/cli/commands/doctor/settings.ts';

/** Its date is cut to whole seconds: 12:00:00. */
const NOON = 'Sun, 22 Nov 2026 12:00:00 GMT';
const noon = Date.parse(NOON);

it.each([
  ['one that may have written it between asking and hearing', noon - 100, noon + 50, 0],
  ['one that wrote it within the second that its date leaves open', noon + 900, noon + 990, 0],
  ['this machine ahead', noon + 61_000, noon + 61_500, 60_000],
  ['this machine behind', noon - 60_500, noon - 60_000, -60_000],
])('the clock shows no more difference than a date proves: %s', (_, asked, heard, skew) => {
  expect(skewOf(NOON, asked, heard)).toBe(skew);
});

it('no date, or one that nobody can read, says nothing', () => {
  expect([skewOf(null, 0, 1), skewOf('yesterday', 0, 1)]).toEqual([undefined, undefined]);
});
