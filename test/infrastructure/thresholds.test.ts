/** Every alarm's threshold: a limit with a wrong unit looks correct, and the alarm never starts. */
import { expect, it } from 'vitest';
import { aConfig } from '../factories/factories.ts';
import { ofType } from './rules/template.ts';
import { ours } from './templates.ts';

it('every alarm has its statistic, threshold, periods and missing data as listed', () => {
  const config = {
    ...aConfig({ circuit: { failures: 5, coolDown: 900_000 } }),
    destinations: { ops: { kind: 'queue' as const, name: 'ops' } },
  };
  const alarms = ofType(ours('prod', config), 'AWS::CloudWatch::Alarm').map(([id, alarm]) => {
    const kind = id.replace(/^OpsAlarms|[0-9A-F]{8}$/g, '');
    const { MetricName, Statistic, ComparisonOperator, Threshold, EvaluationPeriods, Period, TreatMissingData } = alarm;
    const is = ComparisonOperator === 'GreaterThanOrEqualToThreshold' ? '>=' : ComparisonOperator;
    const missing = TreatMissingData === 'notBreaching' ? '' : `, ${TreatMissingData} without data`;
    return `${kind}: ${Statistic} of ${MetricName} ${is} ${Threshold}, ${EvaluationPeriods} x ${Period} s${missing}`;
  });
  expect(alarms.toSorted()).toMatchInlineSnapshot(`
    [
      "CallbackAge: Maximum of ApproximateAgeOfOldestMessage >= 900, 1 x 300 s",
      "Callbacksops: Maximum of OldestUndelivered >= 900000, 1 x 1800 s",
      "Circuitship: Sum of CircuitOpened >= 1, 1 x 1200 s",
      "ClaimsRefused: Sum of ClaimsRefused >= 1, 1 x 900 s",
      "DeadLettersbatch: Sum of DeadLettersRevived >= 1, 1 x 1380 s",
      "DeadLetterscallback: Sum of DeadLettersRevived >= 1, 1 x 1320 s",
      "DeadLetterselect: Sum of DeadLettersRevived >= 1, 1 x 1320 s",
      "DeadLettersgroup: Sum of DeadLettersRevived >= 1, 1 x 1320 s",
      "DeadLettersregister: Sum of DeadLettersRevived >= 1, 1 x 1620 s",
      "Failedship: Sum of BatchesFailed >= 1, 1 x 900 s",
      "FanOutsExpired: Sum of FanOutsExpired >= 1, 1 x 900 s",
      "FanOutsFailed: Sum of FanOutsFailed >= 1, 1 x 900 s",
      "GivenUp: Maximum of ApproximateNumberOfMessagesVisible >= 1, 1 x 300 s",
      "IndexThrottledByCheckAt: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "IndexThrottledByTarget: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "IndexThrottledFailedByTarget: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "IndexThrottledTargets: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "IndexThrottledUnderWay: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "JobsUndeliverable: Sum of JobsUndeliverable >= 1, 1 x 900 s",
      "Lateship: Maximum of OldestWaiting >= 301000, 1 x 3600 s",
      "ReadThrottledaudit: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledbatch: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledbatchLock: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledfanOut: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledfleet: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledlist: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "ReadThrottledtask: Sum of ReadThrottleEvents >= 1, 3 x 300 s",
      "RegisterAge: Maximum of ApproximateAgeOfOldestMessage >= 300, 1 x 300 s",
      "Rejected: Maximum of ApproximateNumberOfMessagesVisible >= 1, 1 x 300 s",
      "Repairs: Sum of Repairs >= 1, 1 x 900 s",
      "SweepCut: Sum of SweepsCut >= 1, 3 x 300 s",
      "SweepErrors: Sum of Errors >= 1, 3 x 300 s",
      "SweepRuns: Sum of Invocations LessThanThreshold 1, 3 x 300 s, breaching without data",
      "Takeoversship: Sum of LockTakeovers >= 3, 1 x 900 s",
      "Throttledapi: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledbatchhandler: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledcallback: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledelectleader: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledgroup: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledregister: Sum of Throttles >= 1, 3 x 300 s",
      "Throttledsweep: Sum of Throttles >= 1, 3 x 300 s",
      "Vanishingbatch: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishingcallback: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishingelect: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishinggivenup: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishinggroup: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishingregister: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "Vanishingrejected: Maximum of ApproximateNumberOfMessagesVisible >= 1, 7 x 86400 s",
      "WriteThrottledaudit: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledbatch: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledbatchLock: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledfanOut: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledfleet: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledlist: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
      "WriteThrottledtask: Sum of WriteThrottleEvents >= 1, 3 x 300 s",
    ]
  `);
});
