/** The page of a run, from answers in the form of CloudWatch's. */
import { describe, expect, it } from 'vitest';
import { CallLog } from '../../tools/verify-aws/loads/call-log.ts';
import { configOf, predict, tasksOf } from '../../tools/verify-aws/loads/plan.ts';
import type { Sent } from '../../tools/verify-aws/loads/send.ts';
import { figuresOf, type Query, queriesOf } from '../../tools/verify-aws/measures/figures.ts';
import type { Observed } from '../../tools/verify-aws/measures/observe.ts';
import type { Resources } from '../../tools/verify-aws/measures/resources.ts';
import { type Compared, compare } from '../../tools/verify-aws/report/compare.ts';
import { isGood, pageOf, type Report } from '../../tools/verify-aws/report/page.ts';

const RESOURCES: Resources = {
  tables: [{ name: 'task', indexes: ['FailedByTarget'] }],
  taskTable: 'task',
  queues: ['register'],
  functions: { register: { name: 'register-function', logGroup: 'register-logs' } },
  service: 'Groupage-verify-1-Flow',
};

/** Answers of GetMetricData for two minutes, by namespace, metric and statistic. */
const ANSWERS: Readonly<Record<string, readonly number[]>> = {
  'AWS/DynamoDB ConsumedWriteCapacityUnits Sum': [700, 300],
  'AWS/DynamoDB ConsumedReadCapacityUnits Sum': [100, 60],
  'AWS/DynamoDB SuccessfulRequestLatency Sum': [400, 100],
  'AWS/DynamoDB SuccessfulRequestLatency SampleCount': [80, 20],
  'AWS/DynamoDB SuccessfulRequestLatency Maximum': [40, 12],
  'AWS/SQS NumberOfMessagesSent Sum': [200, 10],
  'AWS/SQS NumberOfMessagesReceived Sum': [205, 10],
  'AWS/SQS NumberOfMessagesDeleted Sum': [200, 15],
  'AWS/SQS NumberOfEmptyReceives Sum': [3, 15],
  'AWS/Lambda Invocations Sum': [25, 5],
  'AWS/Lambda Errors Sum': [0, 0],
  'AWS/Lambda Throttles Sum': [2, 0],
  'AWS/Lambda Duration Sum': [1_000, 200],
  'AWS/Lambda Duration p50': [30, 40],
  'AWS/Lambda Duration p99': [300, 90],
  'AWS/Lambda ConcurrentExecutions Maximum': [7, 2],
  'AWS/Logs IncomingBytes Sum': [30_000, 9_000],
  'Groupage TasksSucceeded Sum': [100, 100],
  'Groupage DownstreamLatency p50': [45, 55],
  'Groupage DownstreamLatency p99': [80, 120],
  'Groupage OldestWaiting Maximum': [4_000],
};

const answer = ({ namespace, metric, statistic, dimensions }: Query): readonly number[] =>
  dimensions.GlobalSecondaryIndexName || (dimensions.Operation ?? 'GetItem') !== 'GetItem'
    ? []
    : (ANSWERS[`${namespace} ${metric} ${statistic}`] ?? []);

const config = configOf('f');
const tasks = [...tasksOf('burst', { burst: 200, rate: 1, duration: 1, targets: 2 }, config)];
const sent: readonly Sent[] = tasks.map((task, n) => ({ ...task, id: `burst-${n}`, sentAt: 1_000 + task.at }));

const observed = (answers: (query: Query) => readonly number[], changes: Partial<Observed> = {}): Observed => {
  const log = new CallLog();
  for (let batch = 0; batch < 2; batch += 1) {
    const ids = sent.slice(batch * 100, (batch + 1) * 100).map(({ id }) => id);
    log.record({ batchId: String(batch), operation: 'burst', attempt: 1, at: 3_000, ids });
  }
  const queries = queriesOf(RESOURCES, 'burst');
  return {
    load: 'burst',
    sent: sent.length,
    cutShort: undefined,
    sentOver: 100,
    called: log.called('burst', sent, 5_000, 0),
    states: { succeeded: 200 },
    figures: figuresOf(queries, queries.map(answers)),
    unread: [],
    coldStarts: { count: 3, mean: 400, p50: 390, p95: 450, p99: 450, max: 455 },
    earlyGuards: 1,
    ...changes,
  };
};

const compared = async (seen: Observed): Promise<Compared> => compare(seen, await predict(config, sent));

const rowOf = ({ rows }: Compared, what: string): string =>
  rows.find((row) => row.what.startsWith(what))?.aws ?? 'no such row';

const report = (loads: readonly Compared[], changes: Partial<Report> = {}): Report => ({
  account: '123456789012',
  region: 'eu-central-1',
  stage: 'verify-1',
  from: '2026-11-27T01:00:00.000Z',
  until: '2026-11-27T03:00:00.000Z',
  loads,
  suite: { outcome: 'passed', summary: '700 tests passed, 0 failed.', failures: [] },
  left: [],
  ...changes,
});

describe('what CloudWatch answered', () => {
  it('is compared with the prediction for the same tasks', async () => {
    const load = await compared(observed(answer));
    expect(load.promises.map(({ held }) => held)).toEqual([true, true, true, true]);
    expect(rowOf(load, 'Write units')).toBe('1,000 (5 a task)');
    expect(rowOf(load, 'Read units')).toBe('160 (0.8 a task)');
    expect(rowOf(load, 'Latency of DynamoDB')).toBe('5 ms, 40 ms');
    expect(rowOf(load, 'Messages sent')).toBe('210, 215, 215, 18');
    expect(rowOf(load, 'Requests to SQS')).toBe('at most 658');
    expect(rowOf(load, 'Invocations of register')).toBe('30; 40 ms and 300 ms; 7');
    expect(rowOf(load, 'Cold starts')).toBe('3; p50 390 ms, p99 450 ms, longest 455 ms');
    expect(rowOf(load, 'Call of the downstream')).toBe('55 ms and 120 ms');
    expect(rowOf(load, 'Throttled invocations')).toBe('2');
    expect(rowOf(load, 'Early guards')).toBe('1');
    // Metrics of events that never happened have no values.
    expect(rowOf(load, 'Leaders taken over')).toBe('0');
    expect(rowOf(load, 'Throttled requests')).toBe('0');
    expect(load.cost).toBeCloseTo(
      1_000 * 0.625e-6 + 160 * 0.125e-6 + 658 * 0.4e-6 + 30 * 0.2e-6 + 0.6 * 0.0000133334,
      9,
    );
  });

  it('is shown as not reported where it is missing, and never as 0', async () => {
    const nothing = observed(() => [], { coldStarts: undefined, earlyGuards: undefined });
    const load = await compared(nothing);
    const figures = load.rows.filter(({ what }) => !/^(Wait|Batches|Calls)/.test(what));
    expect(figures.length).toBeGreaterThan(10);
    expect(figures.map(({ aws }) => aws)).toEqual(figures.map(() => 'not reported'));
    expect(load.cost).toBeUndefined();
  });

  it('leaves a cost without a part of it unreported', async () => {
    const load = await compared(observed((query) => (query.namespace === 'AWS/SQS' ? [] : answer(query))));
    expect(rowOf(load, 'Cost')).toBe('not reported');
  });
});

describe('the page', () => {
  it('says that every promise held', async () => {
    const good = report([await compared(observed(answer))]);
    expect(isGood(good)).toBe(true);
    const page = pageOf(good);
    expect(page).toContain('Every promise held.');
    expect(page).toContain('the loads cost at most $0.000');
    expect(page).toContain('700 tests passed, 0 failed.');
    expect(page).toContain('Everything that the run created was removed.');
  });

  it.each([
    ['a lost task', { states: { succeeded: 199, missing: 1 } }, '199 succeeded, 1 missing'],
    ['a failed task', { states: { succeeded: 199, failed: 1 } }, '1 failed'],
    ['a task in two batches', { called: { ...observed(answer).called, twice: 1 } }, 'No task is in two batches'],
  ])('shows %s as a broken promise', async (_, changes, text) => {
    const bad = report([await compared(observed(answer, changes))]);
    expect(isGood(bad)).toBe(false);
    const page = pageOf(bad);
    expect(page).toContain('1 of the promises did not hold');
    expect(page).toContain(text);
    expect(page).toContain('<td class="bad">no</td>');
  });

  it.each([
    ['a load that ended early', { cutShort: 'it has spent $2.00' }, {}, 'The load ended early: it has spent $2.00.'],
    ['failed tests', {}, { suite: { outcome: 'failed', summary: '', failures: ['a <test>'] } }, 'a &lt;test&gt;'],
    ['remaining resources', {}, { left: ['the stack Groupage-verify-1-Flow'] }, '<li>the stack Groupage-verify-1-Flow'],
  ] as const)('shows %s, and is not good', async (_, seen, changes, text) => {
    const bad = report([await compared(observed(answer, seen))], changes);
    expect(isGood(bad)).toBe(false);
    expect(pageOf(bad)).toContain(text);
  });

  it('names what could not be read', async () => {
    const load = await compared(observed(answer, { unread: ['logs: AccessDenied'] }));
    expect(pageOf(report([load]))).toContain('Could not read logs: AccessDenied.');
  });

  it('says that the tests were left out', async () => {
    const suite = { outcome: 'not run', summary: 'Not run: --no-suite was given.', failures: [] } as const;
    const page = pageOf(report([await compared(observed(answer))], { suite }));
    expect(page).toContain('Every promise held under load. The tests for deployed stacks were not run.');
  });

  it('is not good without a load', () => expect(isGood(report([]))).toBe(false));
});
