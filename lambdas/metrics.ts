/**
 * Writes metrics as log lines in the embedded metric format, which CloudWatch reads from the log: one line for each set
 * of dimensions.
 */
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { type Measured, measured } from '../src/domain/events/measure.ts';
import { METRICS, type MetricName, NAMESPACE, type Unit } from '../src/domain/events/metrics.ts';
import type { Report } from '../src/ports/machine.ts';

type Write = (what: Measured) => void;

const UNITS: Readonly<Record<Unit, (typeof MetricUnit)[keyof typeof MetricUnit]>> = {
  Count: MetricUnit.Count,
  Milliseconds: MetricUnit.Milliseconds,
  Percent: MetricUnit.Percent,
};

/** @param stack name of the function's stack. */
export const embeddedMetrics = (stack: string): Write => {
  const metrics = new Metrics({ namespace: NAMESPACE, serviceName: stack });
  return ({ of, values }) => {
    metrics.addDimensions(of);
    for (const [name, value] of Object.entries(values))
      metrics.addMetric(name, UNITS[METRICS[name as MetricName].unit], value);
    // Publish at once, because other events have other dimensions.
    metrics.publishStoredMetrics();
  };
};

export const measureTo =
  (write: Write): Report =>
  (event) => {
    for (const each of measured(event)) write(each);
  };
