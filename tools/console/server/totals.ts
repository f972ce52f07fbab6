/** The totals of an operation's metrics. Pure. */

import type { MetricName } from '../../../src/domain/events/metrics.ts';
import type { OperationTotals, Series } from './shapes.ts';

/** The sum of one metric with its dimensions. */
export interface Sum extends Pick<Series, 'metric' | 'of'> {
  readonly sum: number;
}

/** The totals of each operation, ordered by name. */
export const totalsOf = (sums: readonly Sum[]): readonly OperationTotals[] => {
  const byOperation = Map.groupBy(
    sums.filter(({ of }) => of.operation !== undefined),
    ({ of }) => of.operation ?? '',
  );
  return [...byOperation]
    .map(([operation, its]) => totalsOfOne(operation, its))
    .toSorted((a, b) => (a.operation < b.operation ? -1 : 1));
};

const totalsOfOne = (operation: string, sums: readonly Sum[]): OperationTotals => {
  const total = (name: MetricName): number =>
    sums.filter(({ metric }) => metric === name).reduce((all, { sum }) => all + sum, 0);
  const [tasksSucceeded, tasksFailed, calls] = [
    total('TasksSucceeded'),
    total('TasksFailed'),
    total('DownstreamCalls'),
  ];
  return {
    operation,
    tasksRegistered: total('TasksRegistered'),
    tasksSucceeded,
    tasksFailed,
    batches: total('BatchesSealed'),
    calls,
    callsSaved: Math.max(0, tasksSucceeded + tasksFailed - calls),
  };
};
