/**
 * The metrics of an instance. They are used by its own dashboard and alarms, and by the dashboards and alarms of the
 * construct's user.
 */

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
  NO_OPERATION,
  STACK_DIMENSION,
} from '../src/domain/events/metrics.ts';
import { allLimits } from '../src/domain/limits/limits.ts';
import type { Flow } from './flow.ts';
import { InvalidProps } from './invalid-props.ts';

/** Options for a metric of one operation. */
export interface OperationMetricOptions extends MetricOptions {
  /** An operation of the configuration. */
  readonly operation: string;
}

/**
 * By default, counts are sums and all other metrics are averages, over five minutes. Other options of `Metric` can be
 * passed. A dimension value, such as an operation, is refused if the configuration does not contain it.
 */
export abstract class InstanceMetrics extends Construct {
  abstract readonly config: Config;
  abstract readonly flow: Flow;

  /**
   * Any metric of docs/reference/metrics.md, with its dimensions.
   *
   * @throws InvalidProps
   */
  metric<Name extends MetricName>(name: Name, props: DimensionsOf<Name> & MetricOptions): Metric {
    const { of, options } = dimensionsIn(name, props);
    // Only rejected messages may name no configured operation.
    for (const [dimension, value] of Object.entries(of))
      if (name !== 'TasksRejected' || value !== NO_OPERATION) this.#check(dimension as DimensionName, value as string);
    return measuredIn(this.flow)(name, of, options);
  }

  /** Number of tasks registered, each counted once. @throws InvalidProps */
  metricTasksRegistered(props: OperationMetricOptions): Metric {
    return this.metric('TasksRegistered', props);
  }

  /** Number of tasks that failed finally. @throws InvalidProps */
  metricTasksFailed(props: OperationMetricOptions): Metric {
    return this.metric('TasksFailed', props);
  }

  /** Size of batches in percent of `maxSize`. @throws InvalidProps */
  metricFillRatio(props: OperationMetricOptions): Metric {
    return this.metric('FillRatio', props);
  }

  /** Time from the registration of a batch's oldest task until its seal, in milliseconds. @throws InvalidProps */
  metricWait(props: OperationMetricOptions): Metric {
    return this.metric('Wait', props);
  }

  /** Longest wait of the oldest waiting task among the Targets scanned, in milliseconds. @throws InvalidProps */
  metricOldestWaiting(props: OperationMetricOptions): Metric {
    return this.metric('OldestWaiting', { statistic: Stats.MAXIMUM, ...props });
  }

  /** Number of times that a circuit opened. @throws InvalidProps */
  metricCircuitOpened(props: OperationMetricOptions): Metric {
    return this.metric('CircuitOpened', props);
  }

  /** Number of batches sealed for any reason: the sum of `metric('BatchesSealed', {reason})`. @throws InvalidProps */
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

  /** Number of tasks minus number of calls to the downstream. @throws InvalidProps */
  metricCallsSaved({ operation, ...options }: { readonly operation: string } & MathExpressionOptions): MathExpression {
    this.#check('operation', operation);
    return callsSavedBy(measuredIn(this.flow), operation, options);
  }

  /**
   * Number of messages in the dead-letter queues of all working queues. A message becomes a dead letter after five
   * receives, an event after 1,000 receives. The sweep empties these queues each minute, so for an alarm use
   * `metric('DeadLettersRevived', { queue })`.
   */
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
        `there is no ${dimension} ${JSON.stringify(value)}: ${known.length > 0 ? `there are ${known.join(', ')}` : 'the configuration has none'}`,
      );
  }

  #known(dimension: DimensionName): readonly string[] {
    switch (dimension) {
      case 'operation':
        return Object.keys(this.config.operations);
      case 'destination':
        return Object.keys(this.config.destinations);
      case 'limit':
        return allLimits(this.config).map(([name]) => name);
      case 'queue':
        return queuesOf(this.flow);
      case 'reason':
        return SEAL_REASONS;
    }
  }
}

/** Period of a data point in graphs. */
export const STEP = Duration.minutes(5);

/** The dimensions of a metric beside its service. */
export type DimensionsOf<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['by'][number], string>>;

/** Metrics whose only dimension beside the service is the operation. */
export type OfOperation = {
  [Name in MetricName]: (typeof METRICS)[Name]['by'] extends readonly ['operation'] ? Name : never;
}[MetricName];

/**
 * Creates metrics of a flow. The functions write them under the flow's service name, which may differ from the name of
 * the stack that has the alarms.
 */
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

/** Splits the dimensions of a metric from its display options. */
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

/** The sum of metrics. A metric without a value counts as 0. @param id unique within one graph. */
const sumOf = (metrics: readonly Metric[], options: MathExpressionOptions = {}, id = 'm'): MathExpression => {
  const named = metrics.map((metric, n) => [`${id}${n}`, metric] as const);
  return new MathExpression({
    expression: named.map(([name]) => `FILL(${name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(named),
    period: STEP,
    ...options,
  });
};

/** Calls saved compared with one call for each task. @param id unique within one graph. */
export const callsSavedBy = (
  measured: MeasuredIn,
  operation: string,
  options: MathExpressionOptions = {},
  id: string | number = '',
): MathExpression => {
  const [succeeded, failed, calls] = [`succeeded${id}`, `failed${id}`, `calls${id}`];
  return new MathExpression({
    // `FILL` is needed because a period without data has no value, and then the whole expression would have no value.
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

/** The values of the dimension `queue`: the queues whose dead letters, or messages, can be sent again. */
export const queuesOf = ({ workingQueues, givenUpQueue }: Flow): string[] => [
  ...Object.keys(workingQueues),
  'rejected',
  ...(givenUpQueue ? ['given-up'] : []),
];

/** For each seal reason, whether it is possible under a policy. */
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

/** The seal reasons that are possible under this policy. */
export const reasonsOf = (policy: BatchPolicy): SealReason[] => SEAL_REASONS.filter((reason) => CAN_BE[reason](policy));
