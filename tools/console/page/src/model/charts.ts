/** The contents of the charts. Pure. */
import type { MetricsView, Series } from '../../../server/shapes.ts';
import { capital, clock, count, duration, orDash, percent, plural } from '../base/format.ts';
import { maxima, meanOfMinute, means, moments, perMinute, type Steps, stepsOf, sums } from './series.ts';
import { type TrackerKind, trackerCharts } from './tracker-charts.ts';

export interface Line {
  readonly name: string;
  /** One value for each step; null if the step has none. */
  readonly values: readonly (number | null)[];
  /** The style of the values in the chart: their colour, and how they are drawn. */
  readonly as: 'first' | 'second' | 'bars' | 'bad';
}

export interface Chart {
  readonly name: string;
  /** The values of the last minute, as text. */
  readonly latest: string;
  /** The start of each step, in seconds since the epoch. Undefined until the metrics have arrived. */
  readonly at: readonly number[] | undefined;
  /** The length of a step, in milliseconds. */
  readonly step: number;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** What a step without a value means, as a sentence without its capital and its full stop. */
  readonly nothing: string;
  /** The sentence that replaces a chart without any value. Undefined if there is a value. */
  readonly none: string | undefined;
  /** If true, the values are counts, and the scale has no marks between 0 and 1. */
  readonly isWhole?: true;
  /** The top of the scale. Undefined if the top depends on the values. */
  readonly top?: number;
}

const NONE: MetricsView = { from: 0, step: 1_000, steps: 0, series: [], totals: { since: 0, operations: [] } };

const HOUR = 3_600_000;

/** A time range in words: `15 minutes`, `1 hour`, `24 hours`. @param millis its length, in milliseconds. */
export const windowInWords = (millis: number): string =>
  millis < HOUR ? plural(Math.round(millis / 60_000), 'minute') : plural(Math.round(millis / HOUR), 'hour');

/** When nothing happened, to complete a sentence. Nothing is known of the time before the counts begin. */
const inTheView = ({ from, step, steps, totals: { since } }: MetricsView, now: number): string =>
  since > from ? `since ${clock(since, now)}, when the counts begin` : `in the last ${windowInWords(steps * step)}`;

export type Drawn = Omit<Chart, 'at' | 'step' | 'none'>;

interface Shown {
  /** The metrics of the shown time range. Undefined until they have arrived. */
  readonly view: MetricsView | undefined;
  /** The metrics with the finest steps, for the values of the last minute. */
  readonly recent: MetricsView | undefined;
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
}

/** What charts show: tasks and calls, deferred lists, or fan-outs. */
export type ChartsKind = 'tasks' | TrackerKind;

/** @param of the dimensions to select: those of one operation, or none to include all operations. */
export const chartsOf = (
  { view, recent = NONE, now }: Shown,
  of: Series['of'] = {},
  kind: ChartsKind = 'tasks',
): readonly Chart[] => {
  const { step } = view ?? NONE;
  const at = view && moments(view);
  const drawn = kind === 'tasks' ? tasks(view ?? NONE, recent, of) : trackerCharts(kind, view ?? NONE, recent);
  return drawn.map((chart) => ({
    ...chart,
    at,
    step,
    none: view && isEmpty(chart) ? `${capital(chart.nothing)} ${inTheView(view, now)}.` : undefined,
  }));
};

const isEmpty = ({ lines, isWhole }: Drawn): boolean =>
  lines.every(({ values }) => values.every((value) => value === null || (isWhole && value === 0)));

const tasks = (view: MetricsView, recent: MetricsView, of: Series['of']): readonly Drawn[] => {
  return [
    {
      name: 'Batch fill',
      latest: orDash(meanOfMinute(recent, 'FillRatio', of), (value) => percent(value / 100)),
      lines: [{ name: 'mean', values: means(stepsOf(view, 'FillRatio', of)), as: 'first' }],
      format: (value) => percent(value / 100),
      nothing: 'no batch was sealed',
      top: 100,
    },
    {
      name: 'Wait of the oldest task in a batch',
      latest: orDash(meanOfMinute(recent, 'Wait', of), duration),
      lines: meanAndMax(stepsOf(view, 'Wait', of)),
      format: duration,
      nothing: 'no task finished its wait',
    },
    {
      name: 'Downstream response time',
      latest: orDash(meanOfMinute(recent, 'DownstreamLatency', of), duration),
      lines: meanAndMax(stepsOf(view, 'DownstreamLatency', of)),
      format: duration,
      nothing: 'no downstream call was made',
    },
    {
      name: 'Failed downstream calls',
      latest: count(perMinute(recent, 'DownstreamErrors', of)),
      lines: [{ name: 'errors', values: sums(view, 'DownstreamErrors', of), as: 'bad' }],
      format: count,
      nothing: 'no downstream call failed',
      isWhole: true,
    },
    {
      name: 'Tasks registered',
      latest: count(perMinute(recent, 'TasksRegistered', of)),
      lines: [{ name: 'tasks', values: sums(view, 'TasksRegistered', of), as: 'bars' }],
      format: count,
      nothing: 'no task was registered',
      isWhole: true,
    },
    {
      name: 'Downstream calls',
      latest: calls(recent, of),
      lines: [
        { name: 'without batching', values: ended(view, of), as: 'second' },
        { name: 'made', values: sums(view, 'DownstreamCalls', of), as: 'first' },
      ],
      format: count,
      nothing: 'no call was made, and no task ended',
      isWhole: true,
    },
  ];
};

const meanAndMax = (steps: Steps | undefined): readonly Line[] => [
  { name: 'mean', values: means(steps), as: 'first' },
  { name: 'max', values: maxima(steps), as: 'second' },
];

const ended = (view: MetricsView, of: Series['of']): readonly number[] => {
  const bad = sums(view, 'TasksFailed', of);
  return sums(view, 'TasksSucceeded', of).map((value, index) => value + (bad[index] ?? 0));
};

const calls = (view: MetricsView, of: Series['of']): string => {
  const made = perMinute(view, 'DownstreamCalls', of);
  const tasks = perMinute(view, 'TasksSucceeded', of) + perMinute(view, 'TasksFailed', of);
  return `${count(made)} for ${count(tasks)} tasks`;
};

/** One step of a chart as text. */
export interface Readout {
  /** The time of the step. */
  readonly time: string;
  /** The value of each line. */
  readonly values: readonly { readonly name: string; readonly value: string; readonly as: Line['as'] }[];
  /** The text that replaces the values if there are none. */
  readonly nothing: string;
  /** All of it in one sentence, for a screen reader. */
  readonly spoken: string;
}

/** @param index the number of the step. @param now in milliseconds since the epoch. */
export const readoutOf = ({ at = [], step, lines, format, nothing }: Chart, index: number, now: number): Readout => {
  const time = timeOfStep((at[index] ?? 0) * 1_000, step, now);
  const values = lines.flatMap(({ name, as, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [{ name, as, value: format(value) }];
  });
  const words = values.map(({ name, value }) => `${name} ${value}`).join(', ');
  return { time, values, nothing, spoken: `${time}: ${words || nothing}` };
};

/** `14:05:10 to 14:05:15`; without seconds if all steps begin with a minute. */
const timeOfStep = (from: number, step: number, now: number): string => {
  const shown = (at: number, day: number): string => clock(at, day).slice(0, step % 60_000 === 0 ? -3 : undefined);
  return `${shown(from, now)} to ${from + step > now ? 'now' : shown(from + step, from + step)}`;
};

/** The step that a key leads to, as in a slider. Undefined for other keys. @param index the current step. */
export const stepAfterKey = (key: string, index: number, steps: number): number | undefined => {
  const to = { ArrowLeft: index - 1, ArrowRight: index + 1, ArrowDown: index - 1, ArrowUp: index + 1 }[key];
  const far = { PageDown: index - 10, PageUp: index + 10, Home: 0, End: steps - 1 }[key];
  const next = to ?? far;
  return next === undefined ? undefined : Math.min(steps - 1, Math.max(0, next));
};
