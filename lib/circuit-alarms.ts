/** Alarms of open circuits: a downstream is down, or wrongly configured, and its batches wait for somebody. */
import { Aws, Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Config } from '../src/config/resolved.ts';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../src/metrics.ts';

const OPENED: MetricName = 'CircuitOpened';

export interface CircuitAlarmsProps {
  readonly config: Config;
}

/**
 * One for each operation that has a circuit. It is on for as long as the circuit opens again and again, each time after its
 * `coolDown`, and goes off by itself. It tells nobody until actions are added to `alarms`.
 *
 * Runbook: docs/operating.md, "A circuit is open".
 */
export class CircuitAlarms extends Construct {
  readonly alarms: readonly Alarm[];

  constructor(scope: Construct, id: string, { config }: CircuitAlarmsProps) {
    super(scope, id);
    this.alarms = Object.values(config.operations)
      .filter(({ circuit }) => circuit !== null)
      .map(
        ({ operation }) =>
          new Alarm(this, operation, {
            alarmDescription: `The downstream of ${operation} takes no calls: its batches wait. Runbook: docs/operating.md#a-circuit-is-open`,
            metric: new Metric({
              namespace: NAMESPACE,
              metricName: OPENED,
              dimensionsMap: { [STACK_DIMENSION]: Aws.STACK_NAME, [METRICS[OPENED].by[0]]: operation },
              statistic: Stats.SUM,
              // Longer than the longest coolDown: between two openings it stays on.
              period: Duration.minutes(20),
            }),
            threshold: 1,
            comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluationPeriods: 1,
            treatMissingData: TreatMissingData.NOT_BREACHING,
          }),
      );
  }
}
