/** Metrics are read through methods, alarms by their names. */
import type { Stack } from 'aws-cdk-lib';
import { Alarm, type IMetric, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import type { Groupage } from '../../lib/groupage.ts';
import { Ops } from '../../lib/ops/ops.ts';
import { METRICS, NAMESPACE } from '../../src/domain/events/metrics.ts';
import { ofType } from './rules/template.ts';
import { templateOf } from './synthesised.ts';
import { OPERATIONS } from './templates.ts';
import { groupageIn, logicalId, theirStack } from './theirs.ts';

const CONFIG = { operations: OPERATIONS, destinations: { ops: { kind: 'queue' as const, name: 'ops' } } };
const made = (props = {}): { stack: Stack; groupage: Groupage } => {
  const stack = theirStack();
  return { stack, groupage: groupageIn(stack, { config: CONFIG, ...props }) };
};
/** The metric as CloudWatch reads it. */
const statOf = (metric: Metric) => {
  const { namespace, metricName, dimensions = [], statistic, period } = metric.toMetricConfig().metricStat ?? {};
  const of = Object.fromEntries(dimensions.map(({ name, value }) => [name, value]));
  return { namespace, metricName, of, statistic, seconds: period?.toSeconds() };
};

describe('a metric of an instance', () => {
  const { groupage } = made();
  const operation = 'ship';

  it.each<[string, (each: Groupage) => Metric, string]>([
    ['TasksRegistered', (each) => each.metricTasksRegistered({ operation }), 'Sum'],
    ['TasksFailed', (each) => each.metricTasksFailed({ operation }), 'Sum'],
    ['FillRatio', (each) => each.metricFillRatio({ operation }), 'Average'],
    ['Wait', (each) => each.metricWait({ operation }), 'Average'],
    ['OldestWaiting', (each) => each.metricOldestWaiting({ operation }), 'Maximum'],
    ['CircuitOpened', (each) => each.metricCircuitOpened({ operation }), 'Sum'],
  ])('has the service and the operation as dimensions: %s', (metricName, make, statistic) => {
    expect(statOf(make(groupage))).toEqual({
      namespace: NAMESPACE,
      metricName,
      of: { service: 'TheirStack', operation },
      statistic,
      seconds: 300,
    });
    expect(METRICS).toHaveProperty(metricName);
  });

  it('takes the options of any metric, which do not become dimensions', () => {
    const metric = groupage.metric('BatchesSealed', {
      operation,
      reason: 'full',
      statistic: 'n',
      period: Duration.minutes(1),
      label: 'full ones',
    });
    expect(statOf(metric)).toMatchObject({
      of: { service: 'TheirStack', operation, reason: 'full' },
      statistic: 'SampleCount',
      seconds: 60,
    });
    expect(metric.label).toBe('full ones');
    expect(statOf(groupage.metric('CallbacksFailed', { destination: 'ops' })).of).toEqual({
      service: 'TheirStack',
      destination: 'ops',
    });
    expect(statOf(groupage.metric('Repairs', {})).of).toEqual({ service: 'TheirStack' });
    expect(statOf(groupage.metric('TasksRejected', { operation: '-' })).of).toMatchObject({ operation: '-' });
  });

  it.each<[string, (each: Groupage) => unknown, RegExp]>([
    [
      'an operation',
      (each) => each.metricFillRatio({ operation: 'shop' }),
      /there is no operation "shop": there are ship$/,
    ],
    ["a sum's operation", (each) => each.metricCallsSaved({ operation: 'shop' }), /there are ship$/],
    ['an operation of batches', (each) => each.metricBatchesSealed({ operation: 'toString' }), /there are ship$/],
    ['a destination', (each) => each.metric('CallbacksFailed', { destination: 'nobody' }), /there are ops$/],
    [
      'a queue',
      (each) => each.metric('DeadLettersRevived', { queue: 'all' }),
      /there are register, elect, group, batch, callback, rejected, given-up$/,
    ],
    ['a limit', (each) => each.metric('LimitWait', { limit: 'vendor' }), /there is no limit "vendor".*has none/],
    [
      'a reason',
      (each) => each.metric('BatchesSealed', { operation, reason: 'bored' }),
      /there are full, bytes, weight, waited/,
    ],
  ])('is refused if the configuration lacks %s', (_, make, words) => {
    expect(() => make(groupage)).toThrow(words);
  });

  it.each<[string, (each: Groupage) => IMetric, string[]]>([
    ['over all reasons', (each) => each.metricBatchesSealed({ operation }), ['BatchesSealed']],
    [
      'of calls saved',
      (each) => each.metricCallsSaved({ operation }),
      ['TasksSucceeded', 'TasksFailed', 'DownstreamCalls'],
    ],
    ['of dead letters', (each) => each.metricDeadLetters(), ['ApproximateNumberOfMessagesVisible']],
  ])('can be a sum %s, of which alarms can be made', (_, make, names) => {
    const { stack, groupage } = made();
    new Alarm(stack, 'Alarm', { metric: make(groupage), threshold: 1, evaluationPeriods: 1 });
    const [[, { Metrics } = { Metrics: [] }] = ['', { Metrics: [] }]] = ofType(
      templateOf(stack),
      'AWS::CloudWatch::Alarm',
    );
    const summed = (Metrics as { MetricStat?: { Metric: { MetricName: string } } }[]).flatMap(
      ({ MetricStat }) => MetricStat?.Metric.MetricName ?? [],
    );
    expect(new Set(summed)).toEqual(new Set(names));
    expect(Metrics).toContainEqual(expect.objectContaining({ Expression: expect.stringContaining('FILL(') }));
  });
});

describe('the alarms of an instance', () => {
  it('are found by their names, and an unknown name is refused', () => {
    const { stack, groupage } = made();
    const ops = new Ops(stack, 'Ops', groupage);
    expect(ops.alarm('Late-ship')).toBe(ops.alarms.find(({ node: { id } }) => id === 'Late-ship'));
    expect(ops.alarm('DeadLetters-register').node.id).toBe('DeadLetters-register');
    expect(() => ops.alarm('Late-shop')).toThrow(
      /^TheirStack\/Ops: there is no alarm "Late-shop": there are .*Late-ship/,
    );
  });

  it('all run the actions that are added', () => {
    const { stack, groupage } = made();
    const topic = new Topic(stack, 'OnCall');
    const ops = new Ops(stack, 'Ops', groupage);
    ops.addAlarmAction(new SnsAction(topic));
    ops.addOkAction(new SnsAction(topic));
    const alarms = ofType(templateOf(stack), 'AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(ops.alarms.length);
    for (const [, { AlarmActions, OKActions }] of alarms)
      expect([AlarmActions, OKActions]).toEqual([[{ Ref: logicalId(topic) }], [{ Ref: logicalId(topic) }]]);
  });
});
