/** The metrics of an instance, for its own dashboard and alarms, and for those of whoever uses the construct. */

import { Duration } from 'aws-cdk-lib';
import {
  MathExpression,
  type MathExpressionOptions,
  Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { SealReason } from '../src/domain/batches/policy.ts';
import type { BatchPolicy } from '../src/domain/config/policies.ts';
import type { Config } from '../src/domain/config/resolved.ts';
import {
  type DimensionName,
  METRICS,
  type MetricName,
  NAMESPACE,
  STACK_DIMENSION,
} from '../src/domain/events/metrics.ts';
import type { Flow } from './flow.ts';
import { InvalidProps } from './invalid-props.ts';

/** Of one operation. */
export interface OperationMetricOptions extends MetricOptions {
  /** One of the configuration. */
  readonly operation: string;
}

/**
 * Counts are sums, all else averages, of five minutes; whatever else a `Metric` takes can be given. What the configuration
 * has not is refused, with what it has.
 */
export abstract class InstanceMetrics extends Construct {
  abstract readonly config: Config;
  abstract readonly flow: Flow;

  /**
   * Any metric of docs/reference/metrics.md, with the dimensions that it has there.
   *
   * @throws InvalidProps
   */
  metric<Name extends MetricName>(name: Name, props: DimensionsOf<Name> & MetricOptions): Metric {
    const { of, options } = dimensionsIn(name, props);
    for (const [dimension, value] of Object.entries(of)) this.#check(dimension as DimensionName, value as string);
    return measuredIn(this.flow)(name, of, options);
  }

  /** Tasks that were taken in, each once. @throws InvalidProps */
  metricTasksRegistered(props: OperationMetricOptions): Metric {
    return this.metric('TasksRegistered', props);
  }

  /** Tasks that failed for good. @throws InvalidProps */
  metricTasksFailed(props: OperationMetricOptions): Metric {
    return this.metric('TasksFailed', props);
  }

  /** How full batches are, in percent of `maxSize`. @throws InvalidProps */
  metricFillRatio(props: OperationMetricOptions): Metric {
    return this.metric('FillRatio', props);
  }

  /** From the registration of a batch's oldest task until it was sealed, in milliseconds. @throws InvalidProps */
  metricWait(props: OperationMetricOptions): Metric {
    return this.metric('Wait', props);
  }

  /** For how long the task has waited whose turn is next, in milliseconds: the longest. @throws InvalidProps */
  metricOldestWaiting(props: OperationMetricOptions): Metric {
    return this.metric('OldestWaiting', { statistic: Stats.MAXIMUM, ...props });
  }

  /** Times at which a downstream was given a rest. @throws InvalidProps */
  metricCircuitOpened(props: OperationMetricOptions): Metric {
    return this.metric('CircuitOpened', props);
  }

  /** Batches whose members are final, for whatever reason: the sum of `metric('BatchesSealed', {reason})`. @throws InvalidProps */
  metricBatchesSealed({
    operation,
    ...options
  }: { readonly operation: string } & MathExpressionOptions): MathExpression {
    this.#check('operation', operation);
    const { batch } = Object.values(this.config.operations).find((each) => each.operation === operation) ?? {};
    const reasons = batch ? reasonsOf(batch) : [];
    return sumOf(
      reasons.map((reason) => measuredIn(this.flow)('BatchesSealed', { operation, reason })),
      { label: operation, ...options },
      'sealed',
    );
  }

  /** Calls of the downstream that there were fewer than tasks. @throws InvalidProps */
  metricCallsSaved({ operation, ...options }: { readonly operation: string } & MathExpressionOptions): MathExpression {
    this.#check('operation', operation);
    return callsSavedBy(measuredIn(this.flow), operation, options);
  }

  /** Messages in the dead-letter queues of all working queues, until the sweep sends them again: received five times, events 1,000 times. */
  metricDeadLetters(options: MathExpressionOptions = {}): MathExpression {
    const letters = Object.values(this.flow.workingQueues).map(({ deadLetters }) =>
      deadLetters.metricApproximateNumberOfMessagesVisible({ period: STEP, statistic: Stats.MAXIMUM }),
    );
    return sumOf(letters, { label: 'dead letters', ...options }, 'letters');
  }

  #check(dimension: DimensionName, value: string): void {
    const known = this.#known(dimension);
    if (!known.includes(value))
      throw new InvalidProps(
        this,
        `there is no ${dimension} ${JSON.stringify(value)}: ${known.length > 0 ? `there are ${known.join(', ')}` : 'there is none'}`,
      );
  }

  #known(dimension: DimensionName): readonly string[] {
    switch (dimension) {
      case 'operation':
        return Object.keys(this.config.operations);
      case 'destination':
        return Object.keys(this.config.destinations);
      case 'queue':
        return Object.keys(this.flow.workingQueues);
      case 'reason':
        return SEAL_REASONS;
    }
  }
}

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
const dimensionsIn = <Name extends MetricName>(
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
const sumOf = (metrics: readonly Metric[], options: MathExpressionOptions = {}, id = 'm'): MathExpression => {
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

/** Which batches can be sealed for each of the reasons. */
const CAN_BE: Readonly<Record<SealReason, (policy: BatchPolicy) => boolean>> = {
  full: () => true,
  bytes: () => true,
  weight: ({ maxWeight }) => maxWeight > 0,
  waited: () => true,
  quiet: ({ quietPeriod }) => quietPeriod > 0,
  bypass: ({ bypass }) => bypass !== null,
  flush: () => true,
};

const SEAL_REASONS = Object.keys(CAN_BE) as readonly SealReason[];

/** Why batches of this policy can be sealed. */
export const reasonsOf = (policy: BatchPolicy): SealReason[] => SEAL_REASONS.filter((reason) => CAN_BE[reason](policy));
