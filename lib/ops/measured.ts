/** Metrics as the dashboard and the alarms take them: ours from the one list of them, AWS's with a short label. */
import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../../src/metrics.ts';
import type { Flow } from '../flow.ts';

/** How often graphs have a point. */
export const STEP = Duration.minutes(5);

/** The dimensions that a metric has beside its stack's. */
type DimensionsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['by'][number], string>>;

/** Makes our metrics of a flow, which its functions write under the name of its stack, wherever alarms of them are. */
export const measuredIn =
  (flow: Flow) =>
  <Name extends MetricName>(name: Name, of: DimensionsOf<Name>, options: MetricOptions = {}): Metric =>
    new Metric({
      namespace: NAMESPACE,
      metricName: name,
      dimensionsMap: { [STACK_DIMENSION]: Stack.of(flow).stackName, ...of },
      statistic: METRICS[name].unit === 'Count' ? Stats.SUM : Stats.AVERAGE,
      period: STEP,
      ...options,
    });

export type MeasuredIn = ReturnType<typeof measuredIn>;
