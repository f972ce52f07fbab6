import { expect, it } from 'vitest';
import { hasFill, hasState } from '../../../tools/console/page/src/model/batch-filters.ts';
import { contains, numbersOf, waterfall } from '../../../tools/console/page/src/model/calls.ts';
import { nextStep, oldestOf, underWayWords } from '../../../tools/console/page/src/model/under-way.ts';
import { ago, NOW } from './kit.ts';

const SUM = { batches: 3, tasks: 10, retried: 6, pending: 3, attempt: 7, oldestAt: ago(90), reasons: [] };

it('says what tasks in batches wait for, and how old the oldest is', () => {
  expect(underWayWords(SUM)).toBe(
    '6 being retried, after up to 7 attempts; 3 with a job that reports later; 1 held by a pause, a missing slot or a limit',
  );
  expect(underWayWords({ ...SUM, isAtLeast: true })).toMatch(/^at least 6 being retried.*; at least 3 with a job/);
  expect(oldestOf(SUM, NOW)).toBe('1 min 30 s');
});

it('names the next step by the reason of the last attempts', () => {
  expect(nextStep('answered 429')).toMatch(/fewer calls.*rateLimit/);
  expect(nextStep("answered 404 (check the operation's downstream url and access)")).toMatch(/check its URL/);
  expect(nextStep('answered 503')).toMatch(/calls again by itself/);
});

it('draws the calls of each attempt on its own scale', () => {
  const call = { isError: false, answer: 'results', tasks: 2 };
  const calls = [
    { ...call, attempt: 1, startedAt: ago(100), tookMs: 100 },
    { ...call, attempt: 1, startedAt: new Date(NOW - 99_900).toISOString(), tookMs: 300 },
    { ...call, attempt: 2, startedAt: ago(10), tookMs: 0 },
  ];
  const drawn = waterfall(calls).map(({ attempt, bars }) => [attempt, bars.map(({ from, width }) => [from, width])]);
  expect(drawn).toEqual([
    [
      1,
      [
        [0, 0.25],
        [0.25, 0.75],
      ],
    ],
    [2, [[0, 0.01]]],
  ]);
});

it('knows which members a call contained, and what the numbers of a batch id are', () => {
  const call = { attempt: 1, startedAt: ago(1), tookMs: 1, isError: true, answer: 'x', tasks: 3 };
  const places = [1, 2, 3, 9].filter((place) => contains({ ...call, members: '1-2,9' }, place));
  expect(places).toEqual([1, 2, 9]);
  expect(contains({ ...call, members: '5,…' }, 70)).toBe(true);
  expect(contains(call, 70)).toBe(true);
  expect(numbersOf('ship/depot=A%23B#12#3')).toEqual({ leader: '12', round: '3' });
});

it('filters batches by state and by fill', () => {
  expect(['sealed', 'in-progress', 'failed'].map((status) => hasState({ status } as never, 'open'))).toEqual([
    true,
    true,
    false,
  ]);
  expect(['partly-failed', 'succeeded'].map((status) => hasState({ status } as never, 'failed'))).toEqual([
    true,
    false,
  ]);
  expect(
    [0.1, 0.25, 1].map((fill) => [hasFill({ fill }, 'low'), hasFill({ fill }, 'half'), hasFill({ fill }, 'full')]),
  ).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ]);
  expect(hasFill({}, undefined)).toBe(true);
});
