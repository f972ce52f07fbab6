import { expect, it } from 'vitest';
import {
  type Chart,
  chartsOf,
  readoutOf,
  stepAfterKey,
  windowInWords,
} from '../../../tools/console/page/src/model/charts.ts';
import type { MetricsView } from '../../../tools/console/server/shapes.ts';
import { aSeries, metrics, NOW } from './kit.ts';

const STEP = 20_000;
const VIEW = metrics(
  aSeries('TasksRegistered', [9, 0, 1, 2, 3]),
  aSeries('FillRatio', [100, 0, 0, 0, 133]),
  aSeries('DownstreamErrors', [0, 0, 0, 0, 0]),
);

const shown = (view: MetricsView | undefined, recent = view) => chartsOf({ view, recent, now: NOW });
const named = (name: string, view: MetricsView | undefined = VIEW): Chart => {
  const found = shown(view).find((each) => each.name === name);
  if (!found) throw new Error(`there is no chart ${name}`);
  return found;
};
/** The local time of day, as the page prints it. */
const clock = (at: number): string => new Date(at).toTimeString().slice(0, 8);

it('charts exist before the first metrics, without saying that nothing happened', () => {
  expect(shown(undefined).map(({ at, none }) => [at, none])).toEqual(
    Array.from({ length: 6 }, () => [undefined, undefined]),
  );
});

it('a chart has a value for each step, or says in its own words that nothing happened', () => {
  for (const { at, lines, none } of shown(VIEW)) {
    expect(at).toHaveLength(5);
    if (none === undefined) for (const { values } of lines) expect(values).toHaveLength(5);
  }
  expect(shown({ ...VIEW, step: 180_000 }).flatMap(({ none = [] }) => none)).toEqual([
    'No task finished its wait in the last 15 minutes.',
    'No downstream call was made in the last 15 minutes.',
    'No downstream call failed in the last 15 minutes.',
    'No call was made, and no task ended in the last 15 minutes.',
  ]);
});

it('an empty chart claims nothing about the time before the counts begin', () => {
  const view = { ...metrics(), steps: 5, from: NOW - 5 * STEP, totals: { since: NOW - 30_000, operations: [] } };
  expect(named('Batch fill', view).none).toBe(
    `No batch was sealed since ${clock(NOW - 30_000)}, when the counts begin.`,
  );
});

it('the values of the last minute come from the finest steps', () => {
  const coarse = { ...VIEW, step: 480_000 };
  const [chart] = chartsOf({ view: coarse, recent: metrics(aSeries('FillRatio', [80])), now: NOW });
  expect([chart?.latest, chart?.step]).toEqual(['40%', 480_000]);
});

it('one step is read out with its time, and each of its values', () => {
  expect(readoutOf(named('Tasks registered'), 3, NOW)).toEqual({
    time: `${clock(NOW - 2 * STEP)} to ${clock(NOW - STEP)}`,
    values: [{ name: 'tasks', value: '2', as: 'bars' }],
    nothing: 'no task was registered',
    spoken: `${clock(NOW - 2 * STEP)} to ${clock(NOW - STEP)}: tasks 2`,
  });
  expect(readoutOf(named('Batch fill'), 4, NOW - 1).spoken).toBe(`${clock(NOW - STEP)} to now: mean 67%`);
  expect(readoutOf(named('Batch fill'), 1, NOW)).toMatchObject({
    values: [],
    spoken: expect.stringMatching(/: no batch was sealed$/),
  });
});

it('the time of a long step has no seconds, and has its date if that is not today', () => {
  const day = 86_400_000;
  const view = { ...VIEW, step: 480_000, from: NOW - day };
  expect(readoutOf(named('Tasks registered', view), 0, NOW).time).toBe(
    `2026-03-03 ${clock(NOW - day).slice(0, 5)} to ${clock(NOW - day + 480_000).slice(0, 5)}`,
  );
});

it('keys move from step to step, and stop at both ends', () => {
  const keys = ['ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'Home', 'End', 'a'];
  expect(keys.map((key) => stepAfterKey(key, 5, 20))).toEqual([4, 6, 15, 0, 0, 19, undefined]);
  expect([stepAfterKey('ArrowLeft', 0, 20), stepAfterKey('ArrowRight', 19, 20)]).toEqual([0, 19]);
});

it('a time range has words', () => {
  expect([900_000, 3_600_000, 86_400_000].map(windowInWords)).toEqual(['15 minutes', '1 hour', '24 hours']);
});

it('lists and fan-outs have charts of their own, with the latest value of each gauge', () => {
  const view = metrics(
    aSeries('JobsAvailable', [900, 0, 0, 400, 0], {}),
    aSeries('JobsLeased', [100, 0, 0, 0, 0], {}),
    aSeries('OldestList', [0, 0, 0, 90_000, 0], {}),
    aSeries('JobsUndeliverable', [0, 0, 0, 2, 1], {}),
  );
  const lists = chartsOf({ view, recent: view, now: NOW }, {}, 'lists');
  expect(lists.map(({ name, latest }) => [name, latest])).toEqual([
    ['Jobs available / claimed', '400 / 100'],
    ['Oldest open list', '1 min 30 s'],
    ['Most deliveries of a job', '–'],
    ['Jobs failed after their deliveries / claims refused', '3 / 0'],
  ]);
  expect(lists[0]?.lines.map(({ values }) => values)).toEqual([
    [900, null, null, 400, null],
    [100, null, null, null, null],
  ]);
  const fanOuts = chartsOf({ view, recent: view, now: NOW }, {}, 'fan-outs');
  expect(fanOuts.map(({ none = '' }) => none.split(' in the last')[0])).toEqual([
    'No fan-out was open',
    'No fan-out was open',
    'No fan-out and no list completed',
    'No fan-out failed or expired',
  ]);
});
