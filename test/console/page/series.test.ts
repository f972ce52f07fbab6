import { expect, it } from 'vitest';
import {
  lastPart,
  lastSeen,
  maxima,
  meanOfMinute,
  means,
  perMinute,
  stepsOf,
  totalOf,
} from '../../../tools/console/page/src/model/series.ts';
import { soFar } from '../../../tools/console/page/src/model/words.ts';
import { aSeries, metrics, NOW } from './kit.ts';

const VIEW = metrics(
  aSeries('TasksRegistered', [9, 0, 1, 2, 3]),
  aSeries('TasksRegistered', [0, 0, 0, 0, 4], { operation: 'parcels' }),
  aSeries('Wait', [0, 0, 0, 0, 300]),
);

it('a metric of all operations is the sum over the operations', () => {
  expect(stepsOf(VIEW, 'TasksRegistered')?.sum).toEqual([9, 0, 1, 2, 7]);
  expect(stepsOf(VIEW, 'TasksRegistered', { operation: 'parcels' })?.sum).toEqual([0, 0, 0, 0, 4]);
  expect(stepsOf(VIEW, 'TasksFailed')).toBeUndefined();
  expect([totalOf(VIEW, 'TasksRegistered'), totalOf(VIEW, 'TasksFailed'), totalOf(undefined, 'Wait')]).toEqual([
    19, 0, 0,
  ]);
});

it('a rate covers the last minute, or the last step if steps are longer', () => {
  expect(perMinute(VIEW, 'TasksRegistered', { operation: 'ship' })).toBe(6);
  expect(perMinute({ ...VIEW, step: 300_000 }, 'TasksRegistered', { operation: 'ship' })).toBeCloseTo(0.6);
});

it('a mean covers values only, and is undefined without any', () => {
  expect(meanOfMinute(VIEW, 'Wait')).toBe(150);
  expect(meanOfMinute(VIEW, 'DownstreamLatency')).toBeUndefined();
  const wait = stepsOf(VIEW, 'Wait');
  expect(means(wait)).toEqual([null, null, null, null, 150]);
  expect(maxima(wait)).toEqual([null, null, null, null, 300]);
});

it('the last step with a value of any of some metrics is found', () => {
  expect(lastSeen(VIEW, ['Wait', 'TasksFailed'])).toBe(NOW - 20_000);
  expect(lastSeen(VIEW, ['TasksFailed'])).toBeUndefined();
});

it('the last part of a time range has its last steps', () => {
  const part = lastPart(VIEW, 50_000);
  expect([part.from, part.step, part.steps]).toEqual([NOW - 60_000, 20_000, 3]);
  expect(stepsOf(part, 'TasksRegistered', { operation: 'ship' })?.sum).toEqual([1, 2, 3]);
  expect(lastPart(VIEW, 3_600_000)).toEqual(VIEW);
});

it('all results are summarized in one sentence', () => {
  const of = { tasksRegistered: 9, tasksSucceeded: 6, tasksFailed: 2, batches: 3, calls: 3, callsSaved: 5 };
  const operations = [
    { operation: 'ship', ...of },
    { operation: 'parcels', ...of },
  ];
  expect(soFar({ since: NOW - 60_000, operations }, NOW)).toBe(
    'In the last 1 min: 12 tasks succeeded, 4 failed, 6 downstream calls made, 10 saved by batching',
  );
});
