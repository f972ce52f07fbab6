/** The contents of the charts. Pure. */
import type { MetricsView, Series } from '../../../server/shapes.ts';
import { count, duration, percent } from '../base/format.ts';
import { maxima, meanOfMinute, means, moments, perMinute, type Steps, stepsOf } from './series.ts';

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** The style of the values in the chart: their colour, and how they are drawn. */
  readonly as: 'first' | 'second' | 'bars' | 'bad';
}

export interface Chart {
  readonly name: string;
  /** The latest values as text. Users of screen readers get only this text, not the chart. */
  readonly latest: string;
  /** The times of the values, in seconds since the epoch. */
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** If true, the values are counts, and the scale has no marks between 0 and 1. */
  readonly isWhole?: true;
  /** The top of the scale. Undefined if the top depends on the values. */
  readonly top?: number;
}

const NONE: MetricsView = { from: 0, step: 1_000, series: [], totals: { since: 0, operations: [] } };

/** The length of the time that the charts show, as a text. */
export const windowOf = (view: MetricsView | undefined): string =>
  view ? duration(moments(view).length * view.step) : '…';

/** @param of the dimensions to select: those of one operation, or none to include all operations. */
export const chartsOf = (view: MetricsView = NONE, of: Series['of'] = {}): readonly Chart[] => {
  const at = moments(view);
  const fill = stepsOf(view, 'FillRatio', of);
  const wait = stepsOf(view, 'Wait', of);
  const latency = stepsOf(view, 'DownstreamLatency', of);
  const inWords = (value: number | undefined, format: (value: number) => string): string =>
    value === undefined ? '–' : format(value);
  return [
    {
      name: 'Batch fill',
      latest: inWords(meanOfMinute(view, 'FillRatio', of), (value) => percent(value / 100)),
      at,
      lines: [{ name: 'mean', values: means(fill), as: 'first' }],
      format: (value) => `${value}%`,
      top: 100,
    },
    {
      name: 'Wait of the oldest task in a batch',
      latest: inWords(meanOfMinute(view, 'Wait', of), duration),
      at,
      lines: meanAndMax(wait),
      format: duration,
    },
    {
      name: 'Downstream response time',
      latest: inWords(meanOfMinute(view, 'DownstreamLatency', of), duration),
      at,
      lines: meanAndMax(latency),
      format: duration,
    },
    {
      name: 'Failed downstream calls',
      latest: count(perMinute(view, 'DownstreamErrors', of)),
      at,
      lines: [{ name: 'errors', values: sums(stepsOf(view, 'DownstreamErrors', of), at.length), as: 'bad' }],
      format: count,
      isWhole: true,
    },
    {
      name: 'Tasks registered',
      latest: count(perMinute(view, 'TasksRegistered', of)),
      at,
      lines: [{ name: 'tasks', values: sums(stepsOf(view, 'TasksRegistered', of), at.length), as: 'bars' }],
      format: count,
      isWhole: true,
    },
    {
      name: 'Downstream calls',
      latest: calls(view, of),
      at,
      lines: [
        { name: 'without batching', values: ended(view, of, at.length), as: 'second' },
        { name: 'made', values: sums(stepsOf(view, 'DownstreamCalls', of), at.length), as: 'first' },
      ],
      format: count,
      isWhole: true,
    },
  ];
};

const meanAndMax = (steps: Steps | undefined): readonly Line[] => [
  { name: 'mean', values: means(steps), as: 'first' },
  { name: 'max', values: maxima(steps), as: 'second' },
];

/** The sum of each step. A step without a value has the sum 0. */
const sums = (steps: Steps | undefined, length: number): readonly number[] =>
  Array.from({ length }, (_, index) => steps?.sum[index] ?? 0);

const ended = (view: MetricsView, of: Series['of'], length: number): readonly number[] => {
  const good = sums(stepsOf(view, 'TasksSucceeded', of), length);
  const bad = sums(stepsOf(view, 'TasksFailed', of), length);
  return good.map((value, index) => value + (bad[index] ?? 0));
};

const calls = (view: MetricsView, of: Series['of']): string => {
  const made = perMinute(view, 'DownstreamCalls', of);
  const tasks = perMinute(view, 'TasksSucceeded', of) + perMinute(view, 'TasksFailed', of);
  return `${count(made)} for ${count(tasks)} tasks`;
};
