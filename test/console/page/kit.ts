/** Factories for the data that the page receives. A test states only the fields that matter to it. */

import type { Operation } from '../../../src/api/operations/responses.ts';
import type { Queues } from '../../../src/api/queues/responses.ts';
import type { Target } from '../../../src/api/targets/responses.ts';
import type { MetricName } from '../../../src/domain/events/metrics.ts';
import type { MetricsView, Series } from '../../../tools/console/server/shapes.ts';

export const NOW = Date.UTC(2026, 2, 4, 12);
export const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

export const anOperation = (fields: Partial<Operation> = {}): Operation => ({
  operation: 'ship',
  circuit: 'closed',
  failures: 0,
  lateAfterSeconds: 60,
  waitingTargets: 0,
  ...fields,
});

export const aTarget = (fields: Partial<Target> = {}): Target => ({
  target: 'ship/depot=MUC',
  operation: 'ship',
  waiting: 0,
  leader: null,
  ...fields,
});

export const queues = (deadLetters: Readonly<Record<string, number>> = {}, rejected = 0): Queues => ({
  queues: (['register', 'elect', 'group', 'batch'] as const).map((queue) => ({
    queue,
    waiting: 1,
    inFlight: 2,
    delayed: 3,
    deadLetters: deadLetters[queue] ?? 0,
  })),
  rejected,
});

/** Steps of 20 s. The last one ends now. */
const STEP = 20_000;

export const aSeries = (
  metric: MetricName,
  sum: readonly number[],
  of: Series['of'] = { operation: 'ship' },
): Series => ({
  metric,
  of,
  sum,
  count: sum.map((value) => (value > 0 ? 2 : 0)),
  max: sum,
});

export const metrics = (...series: readonly Series[]): MetricsView => {
  const steps = Math.max(0, ...series.map(({ sum }) => sum.length));
  const from = NOW - steps * STEP;
  return { from, step: STEP, steps, series, totals: { since: from, operations: [] } };
};
