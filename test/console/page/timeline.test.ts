import { expect, it } from 'vitest';
import type { Batch } from '../../../src/api/batches/responses.ts';
import type { Task } from '../../../src/api/tasks/responses.ts';
import { timelineOf } from '../../../tools/console/page/src/model/timeline.ts';
import { ago, NOW } from './kit.ts';

const TARGET = 'ship/depot=MUC';
const BATCH = `${TARGET}#3#1`;

const aTask = (fields: Partial<Task> = {}): Task => ({
  id: 'a',
  operation: 'ship',
  target: TARGET,
  status: 'created',
  attempts: 0,
  run: 1,
  createdAt: ago(60),
  ...fields,
});
const aBatch = (fields: Partial<Batch> = {}): Batch => ({
  id: BATCH,
  target: TARGET,
  operation: 'ship',
  status: 'in-progress',
  sealedBy: 'waited',
  size: 20,
  fill: 0.2,
  members: ['a'],
  attempt: 1,
  attempts: 0,
  oldestAt: ago(60),
  createdAt: ago(50),
  sealedAt: ago(50),
  startedAt: ago(49),
  ...fields,
});
const titles = (task: Task, batch?: Batch): string[] => timelineOf(task, batch, NOW).map(({ title }) => title);

it('a waiting task shows what it waits for', () => {
  expect(titles(aTask())).toEqual(['Registered', 'Waits for its batch']);
  const paused = aTask({ waitsFor: { reason: 'target-paused', text: 'its Target, paused since noon' } });
  expect(titles(paused)).toEqual(['Registered', 'Waits for its Target, paused since noon']);
});

it('a batch shows its seal reason, its fill and how long the task had waited', () => {
  const [, sealed] = timelineOf(aTask({ status: 'batched', batchId: BATCH }), aBatch(), NOW);
  expect(sealed).toMatchObject({
    title: 'In a batch of 20 tasks',
    text: 'sealed because its oldest task had waited for maxWait, or its time window ended, 20% full, after a wait of 10 s',
    link: { route: { view: 'batch', id: BATCH } },
  });
  expect(titles(aTask({ status: 'batched', batchId: BATCH }))).toEqual(['Registered', 'In a batch']);
});

it('between attempts it shows the time of the next and the result of the last', () => {
  const task = aTask({ status: 'in-progress', batchId: BATCH, nextAttemptAfter: ago(-30) });
  const batch = aBatch({ attempt: 2, lastAttempt: { endedAt: ago(5), reason: 'answered 503: busy' } });
  expect(timelineOf(task, batch, NOW).at(-1)).toMatchObject({
    tone: 'bad',
    title: 'Downstream called, attempt 2',
    text: 'the next attempt starts in 30 s at the earliest',
    quote: 'answered 503: busy',
  });
});

it('the steps of a failed task end with the reason and the error message', () => {
  const task = aTask({
    status: 'failed',
    batchId: BATCH,
    attempts: 1,
    finishedAt: ago(40),
    error: { code: 'refused', message: 'answered 422: no such depot', retriable: false },
  });
  expect(timelineOf(task, aBatch(), NOW).at(-1)).toMatchObject({
    tone: 'bad',
    title: 'Failed: refused',
    text: 'the downstream refused the call, after 1 attempt, a redrive helps once the cause is fixed; if the payload is at fault, send a corrected task under another id',
    quote: 'answered 422: no such depot',
  });
});

it('redriven, succeeded and superseded tasks have a step for that', () => {
  const redriven = aTask({ run: 2, redrivenAt: ago(30), status: 'succeeded', batchId: BATCH, finishedAt: ago(10) });
  expect(titles(redriven, aBatch())).toEqual([
    'Registered',
    'Redriven: run 2',
    'In a batch of 20 tasks',
    'Downstream called',
    'Succeeded',
  ]);
  const replaced = timelineOf(aTask({ status: 'succeeded', supersededBy: 'b', finishedAt: ago(10) }), undefined, NOW);
  expect(replaced.at(-1)).toMatchObject({ title: 'Superseded', link: { route: { view: 'task', id: 'b' } } });
});

it('shows each call with the task, its time and its error; a failed one has no tick', () => {
  const call = { tookMs: 34, isError: true, tasks: 20 };
  const members = ['b', 'a', ...Array.from({ length: 18 }, (_, n) => `m-${n}`)];
  const calls = [
    { ...call, attempt: 3, startedAt: ago(40), answer: 'answered 429' },
    { ...call, attempt: 4, startedAt: ago(30), answer: 'answered 422: bad', tasks: 20 },
    { ...call, attempt: 4, startedAt: ago(29), answer: 'answered 422: bad', tasks: 1, members: '1' },
    { ...call, attempt: 4, startedAt: ago(28), answer: 'results', isError: false, tasks: 19, members: '2-20' },
  ];
  const open = aTask({ status: 'in-progress', batchId: BATCH, nextAttemptAfter: ago(-30) });
  const steps = timelineOf(open, aBatch({ attempt: 4, members, calls }), NOW).slice(2);
  expect(steps.map(({ tone, title }) => [tone, title])).toEqual([
    ['warn', 'Attempts 1 to 2'],
    ['bad', 'Attempt 3: the call failed'],
    ['bad', 'Attempt 4: the call failed'],
    ['ok', 'Attempt 4: the downstream answered'],
    ['busy', 'Attempt 5'],
  ]);
  expect(steps[1]).toMatchObject({ at: NOW - 40_000, quote: 'answered 429' });
  expect(steps[3]?.text).toBe('after 34 ms, with 19 of 20 tasks of the batch');
  const running = aTask({ status: 'in-progress', batchId: BATCH });
  expect(timelineOf(running, aBatch({ attempt: 5, members, calls }), NOW).at(-1)).toMatchObject({
    tone: 'busy',
    title: 'Attempt 5: the downstream is being called',
  });
});
