import { describe, expect, it } from 'vitest';
import type { FlowEvent } from '../src/domain/events/events.ts';
import { measured } from '../src/domain/events/measure.ts';
import { METRICS, type MetricName } from '../src/domain/events/metrics.ts';
import type { FanOutId } from '../src/domain/fan-out-ids.ts';
import { batchId, operationName, target, token } from './factories/factories.ts';

const operation = operationName('ship');
const where = target('ship/depot=MUC');
const batch = { batchId: batchId('ship/depot=MUC#1#1'), operation };
const sealed = { ...batch, event: 'sealed', target: where, because: 'full', size: 7, fill: 0.7, waited: 300 } as const;
const call = { ...batch, attempt: 1, items: 7, took: 20, answer: 'results', traceparent: String(token('t')) };
const called = { ...call, event: 'called', isError: false } as const;
const counts = { succeeded: 5, failed: 2 };
const finished = { ...batch, event: 'finished', status: 'partly-failed', counts } as const;
const settled = { event: 'settled', operation, target: where, tasks: 2 } as const;

/** The values that an event adds, over all dimensions. */
const values = (event: FlowEvent) => Object.assign({}, ...measured(event).map((each) => each.values));

describe('an event is measured', () => {
  it('by its operation, and a seal also by its reason', () => {
    expect(measured(sealed)).toEqual([
      { of: { operation, reason: 'full' }, values: { BatchesSealed: 1 } },
      { of: { operation }, values: { FillRatio: 70, Wait: 300 } },
    ]);
    expect(measured({ event: 'rejected', messages: 2, reasons: [] })).toEqual([
      { of: { operation: '-' }, values: { TasksRejected: 2 } },
    ]);
    expect(measured({ event: 'untold', tasks: 2, destinations: ['ops'] })).toEqual([
      { of: {}, values: { EventsUntold: 2 } },
    ]);
  });

  it('without counts of zero, which would cost a log line', () => {
    expect(measured({ event: 'registered', operation, tasks: 0, duplicates: 9 })).toEqual([]);
    expect(values(called)).toEqual({ DownstreamCalls: 1, DownstreamLatency: 20 });
    expect(values({ event: 'led', target: where, fence: 1, takenOver: false })).toEqual({ LeadersElected: 1 });
  });

  it('with durations of zero, which have a meaning', () => {
    expect(values({ ...called, took: 0, isError: true })).toEqual({
      DownstreamCalls: 1,
      DownstreamErrors: 1,
      DownstreamLatency: 0,
    });
    expect(values({ event: 'looked', operation, targets: 0, oldestWaiting: 0 })).toEqual({ OldestWaiting: 0 });
    expect(values({ ...sealed, waited: 0 })).toMatchObject({ Wait: 0 });
  });

  it('without negative durations if two clocks differ', () => {
    expect(values({ ...sealed, waited: -40 })).toMatchObject({ Wait: 0 });
    expect(values({ ...called, took: -1 })).toMatchObject({ DownstreamLatency: 0 });
  });

  it('as no batch if all candidates ended before the seal', () => {
    expect(measured({ ...sealed, size: 0, fill: 0 })).toEqual([]);
  });

  it('once for each task, whatever its end', () => {
    expect(values(finished)).toEqual({ TasksSucceeded: 5, TasksFailed: 2, BatchesFailed: 1 });
    expect(values({ ...finished, status: 'succeeded', counts: { succeeded: 7, failed: 0 } })).toEqual({
      TasksSucceeded: 7,
      BatchesSucceeded: 1,
    });
    expect(values({ ...settled, how: 'superseded' })).toEqual({ TasksSucceeded: 2 });
    expect(values({ ...settled, how: 'cancelled' })).toEqual({ TasksFailed: 2 });
    expect(values({ ...settled, how: 'expired' })).toEqual({ TasksFailed: 2, TasksExpired: 2 });
  });

  it('as a repair of its kind, and as one repair in total', () => {
    const repaired = { event: 'repaired', operation, target: where, since: 0 } as const;
    expect(measured({ ...repaired, finding: 'stranded' })).toEqual([
      { of: { operation }, values: { StrandedRepaired: 1 } },
      { of: {}, values: { Repairs: 1 } },
    ]);
    expect(values({ event: 'fan-out-repaired', fanOut: 'f' as FanOutId })).toEqual({ FanOutsRepaired: 1, Repairs: 1 });
  });

  it('as a retry only if a call is repeated, not while a job is pending', () => {
    const postponed = { ...batch, event: 'postponed', retryAt: 0, reason: 'HTTP 503' } as const;
    expect(values({ ...postponed, open: 3 })).toEqual({ BatchesRetried: 1 });
    expect(values({ ...postponed, open: 3, pending: 2 })).toEqual({ BatchesRetried: 1 });
    expect(values({ ...postponed, open: 3, pending: 3 })).toEqual({});
  });

  it('by the dimensions of its metrics in the list', () => {
    for (const event of [sealed, called, finished, { ...settled, how: 'expired' }] as const)
      for (const { of, values } of measured(event))
        for (const name of Object.keys(values) as MetricName[]) expect(Object.keys(of)).toEqual(METRICS[name].by);
  });
});
