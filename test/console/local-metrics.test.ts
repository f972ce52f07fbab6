import { describe, expect, it } from 'vitest';
import type { FlowEvent } from '../../src/domain/events/events.ts';
import type { BatchId, OperationName, Target } from '../../src/domain/ids.ts';
import { localMetrics, type SavedMetrics } from '../../tools/console/server/local-metrics.ts';
import type { MetricsView } from '../../tools/console/server/shapes.ts';

const ship = 'ship' as OperationName;
const batchId = 'ship/depot=A#1#1' as BatchId;
const registered = (tasks: number, operation = ship): FlowEvent => ({
  event: 'registered',
  operation,
  tasks,
  duplicates: 0,
});
const sealed = (fill: number, because: 'full' | 'waited'): FlowEvent => ({
  event: 'sealed',
  batchId,
  operation: ship,
  target: 'ship/depot=A' as Target,
  because,
  size: 10,
  fill,
  waited: 700,
});
const called = (took: number): FlowEvent => ({
  event: 'called',
  batchId,
  operation: ship,
  attempt: 1,
  items: 10,
  took,
  answer: '200',
  isError: false,
  traceparent: '',
});
const finished = (succeeded: number, failed: number): FlowEvent => ({
  event: 'finished',
  batchId,
  operation: ship,
  status: 'succeeded',
  counts: { succeeded, failed },
});

const STEP = 5_000;
const seriesOf = ({ series }: MetricsView, metric: string, of: object = { operation: 'ship' }) =>
  series.find((each) => each.metric === metric && JSON.stringify(each.of) === JSON.stringify(of));

describe('the metrics of a local stack', () => {
  it('are sums, counts and maxima in steps, the current step last', async () => {
    let now = 1_000 * STEP;
    const metrics = localMetrics(() => now);
    metrics.add(called(30));
    now += STEP;
    metrics.add(called(10));
    metrics.add(called(50));
    const view = await metrics.look();
    const latency = seriesOf(view, 'DownstreamLatency');
    expect([view.step, view.from + 179 * STEP]).toEqual([STEP, now]);
    expect(latency?.sum.slice(-3)).toEqual([0, 30, 60]);
    expect(latency?.count.slice(-3)).toEqual([0, 1, 2]);
    expect(latency?.max.slice(-3)).toEqual([0, 30, 50]);
    expect([latency?.sum, latency?.count, latency?.max].map((list) => list?.length)).toEqual([180, 180, 180]);
  });

  it('count batches separately for each seal reason', async () => {
    const metrics = localMetrics();
    metrics.add(sealed(1, 'full'));
    metrics.add(sealed(0.5, 'waited'));
    const view = await metrics.look();
    expect(seriesOf(view, 'BatchesSealed', { operation: 'ship', reason: 'full' })?.sum.at(-1)).toBe(1);
    expect(seriesOf(view, 'FillRatio')).toMatchObject({ metric: 'FillRatio' });
    expect(seriesOf(view, 'FillRatio')?.sum.at(-1)).toBe(150);
  });

  it('drop steps after 15 minutes, but keep the totals', async () => {
    let now = 1_000 * STEP;
    const metrics = localMetrics(() => now);
    metrics.add(registered(7));
    now += 180 * STEP;
    expect((await metrics.look()).series).toEqual([]);
    metrics.add(registered(3));
    const view = await metrics.look();
    expect(seriesOf(view, 'TasksRegistered')?.sum.filter((sum) => sum > 0)).toEqual([3]);
    expect(view.totals).toMatchObject({
      since: 1_000 * STEP,
      operations: [{ operation: 'ship', tasksRegistered: 10 }],
    });
  });

  it('of a longer time range have longer steps', async () => {
    let now = 86_400_000;
    const metrics = localMetrics(() => now);
    const { windows } = await metrics.about();
    expect(windows.map(({ millis }) => millis / 60_000)).toEqual([15, 60, 360, 1_440]);
    metrics.add(registered(7));
    now += 3 * 3_600_000;
    metrics.add(registered(3));
    for (const { millis } of windows) {
      const view = await metrics.look(millis);
      expect([view.step * view.steps, view.from + 179 * view.step <= now, now < view.from + 180 * view.step]).toEqual([
        millis,
        true,
        true,
      ]);
      const sums = seriesOf(view, 'TasksRegistered')?.sum.filter((sum) => sum > 0);
      expect([millis, sums]).toEqual([millis, millis > 3 * 3_600_000 ? [7, 3] : [3]]);
    }
  });

  it('continue from saved ones, with all time ranges and totals', async () => {
    let now = 1_000 * STEP;
    const before = localMetrics(() => now);
    for (const event of [registered(7), called(30), called(50), sealed(1, 'full')]) before.add(event);
    const saved = JSON.parse(JSON.stringify(before.saved())) as SavedMetrics;
    now += 60_000;
    const after = localMetrics(() => now, saved);
    after.add(registered(3));
    before.add(registered(3));
    for (const { millis } of (await after.about()).windows)
      expect(await after.look(millis)).toEqual(await before.look(millis));
    expect((await after.look()).totals).toMatchObject({
      since: 1_000 * STEP,
      operations: [{ operation: 'ship', tasksRegistered: 10, calls: 2, batches: 1 }],
    });
  });

  it.each([
    [250, true],
    [450, false],
  ])('of %i operations are saved bounded, finest steps: %s', (operations, isFine) => {
    let now = 86_400_000;
    const metrics = localMetrics(() => now);
    for (let step = 0; step < 180; step += 1) {
      now += STEP;
      for (let n = 0; n < operations; n += 1) metrics.add(registered(1, `o${n}` as OperationName));
    }
    const { series } = metrics.saved();
    expect(series.reduce((sum, { steps }) => sum + steps.flat().length / 4, 0)).toBeLessThanOrEqual(100_000);
    expect(series).toHaveLength(operations);
    for (const { sum, steps } of series)
      expect([sum, ...steps.map(({ length }) => length > 0)]).toEqual([180, isFine, true, true, true]);
  });

  it('have totals for each operation, with calls saved', async () => {
    const metrics = localMetrics();
    for (const event of [
      registered(20),
      registered(1, 'other' as OperationName),
      sealed(1, 'full'),
      sealed(1, 'waited'),
    ])
      metrics.add(event);
    for (const event of [called(1), called(1), called(1), finished(10, 0), finished(8, 2)]) metrics.add(event);
    expect((await metrics.look()).totals.operations).toEqual([
      {
        operation: 'other',
        tasksRegistered: 1,
        tasksSucceeded: 0,
        tasksFailed: 0,
        batches: 0,
        calls: 0,
        callsSaved: 0,
      },
      {
        operation: 'ship',
        tasksRegistered: 20,
        tasksSucceeded: 18,
        tasksFailed: 2,
        batches: 2,
        calls: 3,
        callsSaved: 17,
      },
    ]);
  });
});
