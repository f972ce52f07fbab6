/** The metrics of an instance, for alarms and dashboards of one's own. */
import type { MathExpression, MathExpressionOptions, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Config } from '../../src/domain/config/resolved.ts';
import type { DimensionName, MetricName } from '../../src/domain/events/metrics.ts';
import type { Flow } from '../flow.ts';
import { InvalidProps } from '../invalid-props.ts';
import { reasonsOf, SEAL_REASONS } from './fill.ts';
import { callsSavedBy, type DimensionsOf, dimensionsIn, measuredIn, STEP, sumOf } from './measured.ts';

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
   * Any metric of docs/metrics.md, with the dimensions that it has there.
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
