/** The figures of one operation that advice is based on, from the console's metrics. Pure. */
import type { SealReason } from '../../../../src/domain/batches/policy.ts';
import type { MetricName } from '../../../../src/domain/events/metrics.ts';
import type { Millis } from '../../../../src/domain/ids.ts';
import type { MetricsView, Series } from '../shapes.ts';

export interface Measured {
  /** Registered tasks. */
  readonly tasks: number;
  /** From the first to the last step in which tasks were registered, in ms. */
  readonly span: Millis;
  /** Sealed batches. */
  readonly batches: number;
  /** Average tasks of a batch as a share of `batch.maxSize`, 0 to 1. */
  readonly fill: number;
  /** Why most batches were sealed; undefined if there is no batch. */
  readonly sealedBy: SealReason | undefined;
  /** Average duration of a call to the downstream in ms; undefined if there was no call. */
  readonly callTakes: Millis | undefined;
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export const measuredIn = ({ series, step }: MetricsView, operation: string): Measured => {
  const of = (name: MetricName): readonly Series[] =>
    series.filter((each) => each.metric === name && each.of.operation === operation);
  const mean = (name: MetricName): number | undefined => {
    const [sum, count] = [total(of(name).flatMap((each) => each.sum)), total(of(name).flatMap((each) => each.count))];
    return count === 0 ? undefined : sum / count;
  };
  const registered = of('TasksRegistered');
  const busy = registered.flatMap(({ sum }) => sum.flatMap((tasks, index) => (tasks > 0 ? [index] : [])));
  const sealed = of('BatchesSealed').map((each) => ({ reason: each.of.reason, batches: total(each.sum) }));
  const [most] = sealed.toSorted((a, b) => b.batches - a.batches);
  return {
    tasks: total(registered.flatMap(({ sum }) => sum)),
    span: busy.length === 0 ? 0 : (Math.max(...busy) - Math.min(...busy) + 1) * step,
    batches: total(sealed.map(({ batches }) => batches)),
    fill: (mean('FillRatio') ?? 0) / 100,
    sealedBy: most?.reason as SealReason | undefined,
    callTakes: mean('DownstreamLatency'),
  };
};
