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

promise('dead-letter and rejected queues have an alarm', lyingMessagesAreWatched, [
  ['a missing alarm', remove(ALARM, /DeadLettersgroup/), /group has no alarm of its DeadLettersRevived/],
  [
    'an alarm on the depth of a dead-letter queue, which the sweep empties',
    set(ALARM, 'MetricName', 'ApproximateNumberOfMessagesVisible', /DeadLettersgroup/),
    /group has no alarm of its DeadLettersRevived/,
  ],
  [
    'another queue without an alarm',
    copy('AWS::SQS::Queue', /Rejected/, 'Other'),
    /Other has no alarm of its ApproximateNumber/,
  ],
  [
    'an alarm on another metric',
    set(ALARM, 'MetricName', 'NumberOfMessagesSent', /Rejected/),
    /FlowRejectedQueue\w+ has no/,
  ],
]);

promise('messages that lie for a week raise an alarm', vanishingMessagesAreWatched, [
  ['a missing alarm', remove(ALARM, /Vanishinggroup/), /DeadLetters\w+ has no alarm/],
  [
    'a period beyond the retention',
    set(ALARM, 'EvaluationPeriods', 15, /Vanishingrejected/),
    /RejectedQueue\w+ has no/,
  ],
  ['another statistic', set(ALARM, 'Statistic', 'Minimum', /Vanishingrejected/), /RejectedQueue\w+ has no/],
]);

promise('functions, tables and indexes have alarms for throttles', throttlesAreWatched, [
  ['a missing alarm', remove(ALARM, /ReadThrottledlist/), /TablesList\w+ has no alarm of its ReadThrottle/],
  [
    'an alarm on an index instead of its table',
    remove(ALARM, /WriteThrottledbatchLock/),
    /TablesBatchLock\w+ has no alarm of its WriteThrottle/,
  ],
  ['a missing alarm of an index', remove(ALARM, /IndexThrottledTargets/), /Targets has no alarm of its WriteThrottle/],
  ['a new function without an alarm', add('Other', 'AWS::Lambda::Function'), /Other has no alarm of its Throttles/],
]);

promise('scheduled functions have alarms for missed runs', scheduledFunctionsAreWatched, [
  ['a missing alarm', remove(ALARM, /SweepRuns/), /FlowSweepHandler\w+ has no alarm of its Invocations/],
]);

promise('alarms say what to do, and link to the runbook', alarmsLinkToTheRunbook, [
  ['a missing description', set(ALARM, 'AlarmDescription', undefined), /does not say what happened/],
  [
    'a missing section',
    set(ALARM, 'AlarmDescription', 'Something is the matter with it: do something. docs/how-to/operate.md#nowhere'),
    /links to #nowhere/,
  ],
]);

promise('every alarm watches one metric', alarmsLookAtOneMetric, [
  ['a math expression', set(ALARM, 'Metrics', []), /looks at more than one metric/],
]);

promise(
  'no alarm notifies if no topic is configured',
  alarmsTell(undefined),
  [['a topic', set(ALARM, 'AlarmActions', [TOPIC]), /tells/]],
  OURS,
);

promise(
  'alarms notify the topic at their start and end',
  alarmsTell(TOPIC),
  [
    ['a missing OK action', set(ALARM, 'OKActions', undefined), /tells/],
    ['another topic', set(ALARM, 'AlarmActions', ['other']), /tells/],
    ['disabled actions', set(ALARM, 'ActionsEnabled', false), /tells/],
  ],
  [{ name: 'the full stage', template: ours('kinds', everyKind), kept: false }],
);

it.each(SUBJECTS)('every Groupage metric in $name is listed in METRICS with its dimensions', ({ template }) => {
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

it.each(SUBJECTS)('the dashboard of $name answers five questions in order', ({ template }) => {
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

it('each operation has its alarms, with limits from its maxWait and its circuit', () => {
  const circuit = { failures: 5, coolDown: 900_000 };
  const plain = operationName('plain');
  const alarms = ofType(ours('prod', aConfig({ circuit }, { operation: plain, circuit: null })), ALARM);
  const of = (metric: string) =>
    alarms.flatMap(([, each]) => (each.MetricName === metric ? [each] : [])) as Record<string, number>[];
  // One second of maxWait plus five minutes.
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
