/** Metrics as the dashboard, the alarms and whoever uses the construct take them: ours from the one list of them. */
import { Duration } from 'aws-cdk-lib';
import {
  MathExpression,
  type MathExpressionOptions,
  Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { DimensionName } from '../../src/domain/events/metrics.ts';
import { METRICS, type MetricName, NAMESPACE, STACK_DIMENSION } from '../../src/domain/events/metrics.ts';
import type { Flow } from '../flow.ts';

/** How often graphs have a point. */
export const STEP = Duration.minutes(5);

/** The dimensions that a metric has beside its service. */
export type DimensionsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['by'][number], string>>;

/** Metrics of ours that have the operation alone as dimension. */
export type OfOperation = {
  [Name in MetricName]: (typeof METRICS)[Name]['by'] extends readonly ['operation'] ? Name : never;
}[MetricName];

/** Makes our metrics of a flow, which its functions write under the name of its service, wherever alarms of them are. */
export const measuredIn =
  (flow: Pick<Flow, 'service'>) =>
  <Name extends MetricName>(name: Name, of: DimensionsOf<Name>, options: MetricOptions = {}): Metric =>
    new Metric({
      namespace: NAMESPACE,
      metricName: name,
      dimensionsMap: { [STACK_DIMENSION]: flow.service, ...of },
      statistic: METRICS[name].unit === 'Count' ? Stats.SUM : Stats.AVERAGE,
      period: STEP,
      ...options,
    });

export type MeasuredIn = ReturnType<typeof measuredIn>;

/** Tells what a metric is of from how it is to be shown. */
export const dimensionsIn = <Name extends MetricName>(
  name: Name,
  props: DimensionsOf<Name> & MetricOptions,
): { readonly of: DimensionsOf<Name>; readonly options: MetricOptions } => {
  const by: readonly DimensionName[] = METRICS[name].by;
  const isDimension = ([key]: readonly [string, unknown]): boolean => (by as readonly string[]).includes(key);
  const entries = Object.entries(props);
  return {
    of: Object.fromEntries(entries.filter(isDimension)) as DimensionsOf<Name>,
    options: Object.fromEntries(entries.filter((each) => !isDimension(each))),
  };
};

/** The sum of metrics, of which those count as nothing that have no value. @param id unique in one graph. */
export const sumOf = (metrics: readonly Metric[], options: MathExpressionOptions = {}, id = 'm'): MathExpression => {
  const named = metrics.map((metric, n) => [`${id}${n}`, metric] as const);
  return new MathExpression({
    expression: named.map(([name]) => `FILL(${name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(named),
    period: STEP,
    ...options,
  });
};

/** Against one call for each task. @param id unique in one graph. */
export const callsSavedBy = (
  measured: MeasuredIn,
  operation: string,
  options: MathExpressionOptions = {},
  id: string | number = '',
): MathExpression => {
  const [succeeded, failed, calls] = [`succeeded${id}`, `failed${id}`, `calls${id}`];
  return new MathExpression({
    // A step without any has no value, which would leave the whole without one.
    expression: `FILL(${succeeded}, 0) + FILL(${failed}, 0) - FILL(${calls}, 0)`,
    usingMetrics: {
      [succeeded]: measured('TasksSucceeded', { operation }),
      [failed]: measured('TasksFailed', { operation }),
      [calls]: measured('DownstreamCalls', { operation }),
    },
    label: operation,
    period: STEP,
    ...options,
  });
};
