/** The charts of deferred lists and of fan-outs. Pure. */
import type { MetricName } from '../../../../../src/domain/events/metrics.ts';
import type { MetricsView } from '../../../server/shapes.ts';
import { count, duration, orDash } from '../base/format.ts';
import type { Drawn } from './charts.ts';
import { latestMax, maxima, perMinute, stepsOf, sums } from './series.ts';

/** Names of lines, by their metrics. */
type Lines = Readonly<Partial<Record<MetricName, string>>>;

/** A chart, before it has values. */
interface Plan {
  readonly name: string;
  /** What the sweep measures once a minute, or events that are counted. */
  readonly of: 'gauge' | 'events';
  readonly lines: Lines;
  readonly format: Drawn['format'];
  readonly nothing: string;
}

const gauge = (name: string, lines: Lines, format: Drawn['format'], nothing: string): Plan => ({
  ...{ name, of: 'gauge', lines, format, nothing },
});
const events = (name: string, lines: Lines, nothing: string): Plan => ({
  ...{ name, of: 'events', lines, format: count, nothing },
});

const PLANS = {
  lists: [
    gauge('Jobs available / claimed', { JobsAvailable: 'available', JobsLeased: 'claimed' }, count, 'no list was open'),
    gauge('Oldest open list', { OldestList: 'age' }, duration, 'no list was open'),
    gauge('Most deliveries of a job', { MostDeliveries: 'deliveries' }, count, 'no list was open'),
    events(
      'Jobs failed after their deliveries / claims refused',
      { JobsUndeliverable: 'jobs', ClaimsRefused: 'claims' },
      'no job failed by its deliveries, and no claim was refused',
    ),
  ],
  'fan-outs': [
    gauge('Open fan-outs', { FanOutsOpen: 'fan-outs' }, count, 'no fan-out was open'),
    gauge('Oldest open fan-out', { OldestFanOut: 'age' }, duration, 'no fan-out was open'),
    events('Completed fan-outs and lists', { FanOutsCompleted: 'completed' }, 'no fan-out and no list completed'),
    events(
      'Fan-outs failed / expired',
      { FanOutsFailed: 'failed', FanOutsExpired: 'expired' },
      'no fan-out failed or expired',
    ),
  ],
} as const satisfies Record<string, readonly Plan[]>;

export type TrackerKind = keyof typeof PLANS;

/** @param recent the metrics with the finest steps, for the latest values */
export const trackerCharts = (kind: TrackerKind, view: MetricsView, recent: MetricsView): readonly Drawn[] =>
  PLANS[kind].map((plan) => drawnOf(plan, view, recent));

const drawnOf = ({ name, of, lines, format, nothing }: Plan, view: MetricsView, recent: MetricsView): Drawn => {
  const all = Object.entries(lines) as readonly (readonly [MetricName, string])[];
  const latest = (metric: MetricName): string =>
    of === 'gauge' ? orDash(latestMax(recent, metric), format) : format(perMinute(recent, metric));
  return {
    name,
    latest: all.map(([metric]) => latest(metric)).join(' / '),
    lines: all.map(([metric, line], index) => ({
      name: line,
      values: of === 'gauge' ? maxima(stepsOf(view, metric)) : sums(view, metric),
      as: index === 0 ? 'first' : 'second',
    })),
    format,
    nothing,
    ...(of === 'events' ? { isWhole: true } : {}),
  };
};
