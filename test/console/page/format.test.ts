import { expect, it } from 'vitest';
import {
  age,
  bytes,
  clock,
  count,
  dollars,
  duration,
  percent,
  plural,
  rate,
  relative,
  shortCount,
  spoken,
} from '../../../tools/console/page/src/base/format.ts';

it('a count has separators, and a lower bound reads as such', () => {
  expect([count(0), count(12_345), count(1_847, true)]).toEqual(['0', '12,345', 'at least 1,847']);
  expect([shortCount(12_345), shortCount(1_847, true)]).toEqual(['12,345', '≥ 1,847']);
  expect(spoken('Waiting tasks: ≥ 7 tasks, in ≥ 2 Targets')).toBe(
    'Waiting tasks: at least 7 tasks, in at least 2 Targets',
  );
  expect([plural(1, 'task'), plural(2, 'task'), plural(0, 'try', 'tries')]).toEqual(['1 task', '2 tasks', '0 tries']);
});

it('a lower bound of 0 is unknown, and is never printed as a number', () => {
  expect([count(0, true), shortCount(0, true)]).toEqual(['unknown', '?']);
  expect(spoken(`${shortCount(0, true)} tasks`)).toBe('an unknown number of tasks');
});

it('only the whole is 100%, and only zero is 0%', () => {
  expect([0, 0.001, 0.5, 0.999, 1].map(percent)).toEqual(['0%', '<1%', '50%', '99%', '100%']);
});

it('a small rate has a decimal', () => {
  expect([0, 0.01, 0.5, 9.94, 9.96, 1234.4].map(rate)).toEqual(['0', '<0.1', '0.5', '9.9', '10', '1,234']);
});

it('a duration has its two largest units', () => {
  expect([-5, 0, 350, 1_200, 59_999, 60_000, 185_000, 8_040_000, 90_000_000].map(duration)).toEqual([
    '0 s',
    '0 ms',
    '350 ms',
    '1.2 s',
    '59 s',
    '1 min',
    '3 min 5 s',
    '2 h 14 min',
    '1 d 1 h',
  ]);
});

it('an age has whole seconds, and a relative time lies in the past or future', () => {
  expect([age(-1), age(999), age(1_999), age(61_500)]).toEqual(['0 s', '0 s', '1 s', '1 min 1 s']);
  expect([relative(1_000, 1_500), relative(1_000, 11_000), relative(11_000, 1_000)]).toEqual([
    'now',
    '10 s ago',
    'in 10 s',
  ]);
});

it('a time of another day has its date', () => {
  const noon = new Date(2026, 2, 4, 12, 5, 9).getTime();
  expect(clock(noon, noon + 60_000)).toBe('12:05:09');
  expect(clock(noon, noon + 86_400_000)).toBe('2026-03-04 12:05:09');
});

it('small amounts of bytes and dollars have more decimals', () => {
  expect([bytes(1_023), bytes(2_048), bytes(3_145_728)]).toEqual(['1023 B', '2.0 KB', '3.0 MB']);
  expect([dollars(12), dollars(0.01234)]).toEqual(['$12.00', '$0.0123']);
});
