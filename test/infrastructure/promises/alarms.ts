import { expect, it } from 'vitest';
import { METRICS, NAMESPACE } from '../../../src/domain/events/metrics.ts';
import { aConfig, operationName } from '../../factories/factories.ts';
import { add, copy, promise, remove, set } from '../promise.ts';
import {
  alarmsLinkToTheRunbook,
  alarmsLookAtOneMetric,
  alarmsTell,
  lyingMessagesAreWatched,
  scheduledFunctionsAreWatched,
  throttlesAreWatched,
  vanishingMessagesAreWatched,
} from '../rules/alarms.ts';
import { metricsOfAlarms, metricsOfDashboards, widgetsOf } from '../rules/dashboard.ts';
import { ofType } from '../rules/template.ts';
import { everyKind, OURS, ours, SUBJECTS, TOPIC } from '../templates.ts';

const ALARM = 'AWS::CloudWatch::Alarm';

promise('every queue in which messages lie has an alarm', lyingMessagesAreWatched, [
  ['an alarm that is gone', remove(ALARM, /DeadLettersgroup/), /FlowGroupDeadLetters\w+ has no alarm/],
  ['another queue', copy('AWS::SQS::Queue', /Rejected/, 'Other'), /Other has no alarm of its ApproximateNumber/],
  ['another metric', set(ALARM, 'MetricName', 'NumberOfMessagesSent', /Rejected/), /FlowRejectedQueue\w+ has no/],
]);

promise('a week of messages in a queue that nobody empties has an alarm', vanishingMessagesAreWatched, [
  ['an alarm that is gone', remove(ALARM, /Vanishinggroup/), /DeadLetters\w+ has no alarm/],
  [
    'a longer time than SQS keeps them',
    set(ALARM, 'EvaluationPeriods', 15, /Vanishingrejected/),
    /RejectedQueue\w+ has no/,
  ],
  ['another statistic', set(ALARM, 'Statistic', 'Minimum', /Vanishingrejected/), /RejectedQueue\w+ has no/],
]);

promise('every function and every table has alarms of its throttles', throttlesAreWatched, [
  ['an alarm that is gone', remove(ALARM, /ReadThrottledlist/), /TablesList\w+ has no alarm of its ReadThrottle/],
  ['another function', add('Other', 'AWS::Lambda::Function'), /Other has no alarm of its Throttles/],
]);

promise('whatever a schedule starts is missed when it does not run, or fails', scheduledFunctionsAreWatched, [
  ['an alarm that is gone', remove(ALARM, /SweepRuns/), /FlowSweepHandler\w+ has no alarm of its Invocations/],
]);

promise('every alarm says what to do, and links to a section that there is', alarmsLinkToTheRunbook, [
  ['no words', set(ALARM, 'AlarmDescription', undefined), /does not say/],
  [
    'a section that there is not',
    set(ALARM, 'AlarmDescription', 'Something is the matter with it: do something. docs/how-to/operate.md#nowhere'),
    /links to #nowhere/,
  ],
]);

promise('every alarm looks at one metric', alarmsLookAtOneMetric, [
  ['math', set(ALARM, 'Metrics', []), /looks at more than one metric/],
]);

promise(
  'no alarm tells anybody where nobody is configured',
  alarmsTell(undefined),
  [['somebody', set(ALARM, 'AlarmActions', [TOPIC]), /tells/]],
  OURS,
);

promise(
  'every alarm tells the topic when it goes on, and when it goes off',
  alarmsTell(TOPIC),
  [
    ['nobody', set(ALARM, 'OKActions', undefined), /tells/],
    ['another one', set(ALARM, 'AlarmActions', ['other']), /tells/],
    ['actions that are off', set(ALARM, 'ActionsEnabled', false), /tells/],
  ],
  [{ name: 'a stage with a topic', template: ours('kinds', everyKind), kept: false }],
);

it.each(SUBJECTS)('every metric of ours in $name is in the list of them, with those dimensions', ({ template }) => {
  const all = [...metricsOfAlarms(template), ...metricsOfDashboards(template)];
  const named = all.filter(({ namespace }) => namespace === NAMESPACE);
  expect(named.length).toBeGreaterThan(20);
  for (const { where, name, dimensions } of named)
    expect([where, name, Object.keys(dimensions).toSorted()]).toEqual([
      where,
      name,
      ['service', ...(METRICS[name as keyof typeof METRICS]?.by ?? ['unknown'])].toSorted(),
    ]);
});

it.each(SUBJECTS)('the dashboard of $name answers five questions in their order', ({ template }) => {
  const widgets = widgetsOf(template).toSorted((a, b) => a.y - b.y);
  expect(widgets[0]?.type).toBe('alarm');
  expect(widgets.flatMap(({ properties: { markdown } }) => markdown ?? [])).toEqual([
    '### Is anything lost or failing?',
    '### Is anything late?',
    '### Are batches full?',
    '### What does it cost?',
    '### Where is the bottleneck?',
  ]);
});

it('each operation has its alarms: late by its own maxWait, and of its circuit, for as long as that opens again', () => {
  const circuit = { failures: 5, coolDown: 900_000 };
  const plain = operationName('plain');
  const alarms = ofType(ours('prod', aConfig({ circuit }, { operation: plain, circuit: null })), ALARM);
  const of = (metric: string) =>
    alarms.flatMap(([, each]) => (each.MetricName === metric ? [each] : [])) as Record<string, number>[];
  // A second of maxWait, and five minutes.
  expect(of('OldestWaiting').map(({ Threshold, Period }) => [Threshold, Period])).toEqual([
    [301_000, 3_600],
    [301_000, 3_600],
  ]);
  expect(of('CircuitOpened')).toMatchObject([
    {
      Dimensions: [
        { Name: 'operation', Value: 'ship' },
        { Name: 'service', Value: 'Groupage-prod-Flow' },
      ],
    },
  ]);
  expect((of('CircuitOpened')[0]?.Period ?? 0) * 1_000).toBeGreaterThan(circuit.coolDown);
  expect(of('BatchesFailed')).toHaveLength(2);
  expect(of('LockTakeovers')).toHaveLength(2);
});
