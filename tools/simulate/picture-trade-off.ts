/** Draws the trade-off between waits, calls and cost: a point per policy, with the knee and the configured policy. */
import { escaped, linear, logInTime, panel, picture, type Scale } from './chart.ts';
import { count, dollars, type Figures, span } from './figures.ts';
import { printPolicy, type SettingName, written } from './settings.ts';
import type { Tried, Varied } from './vary.ts';

const [WIDTH, HEIGHT, LEFT, TOP, WIDE, TALL, STEP] = [1_120, 470, 74, 90, 420, 290, 540];

interface Axis {
  readonly title: string;
  readonly of: (figures: Figures) => number;
  readonly label: (value: number) => string;
}

const AXES: readonly Axis[] = [
  { title: 'calls per hour', of: ({ callsPerHour }) => callsPerHour, label: count },
  { title: 'cost per day', of: ({ perDay }) => perDay, label: dollars },
];

/** @param current figures of the configured policy */
export const tradeOffPicture = (varied: Varied, current: Figures): string => {
  const waits = [...varied.tried, current].map(({ wait }) => Math.max(1, wait.p99));
  const x = logInTime(waits, 0, WIDE);
  const panels = AXES.map((axis, index) => {
    const y = linear(Math.max(...[...varied.tried, current].map(axis.of)), TALL, 0);
    const where = { left: LEFT + index * STEP, top: TOP, width: WIDE, height: TALL, title: axis.title };
    return panel(
      {
        ...where,
        x,
        y,
        xLabel: span,
        yLabel: axis.label,
        along: 'wait of 99% of the tasks, at most (logarithmic)',
      },
      marks(varied, current, axis, x, y),
    );
  });
  return picture(
    {
      width: WIDTH,
      height: HEIGHT,
      title: 'Wait versus calls and cost',
      description: descriptionOf(varied, current),
    },
    [legend(varied), ...panels],
  );
};

const descriptionOf = ({ tried, knee }: Varied, current: Figures): string =>
  [
    `${tried.length} policies.`,
    `As configured, 99% of the tasks wait up to ${span(current.wait.p99)}, with ${count(current.callsPerHour)} calls per hour and ${dollars(current.perDay)} per day.`,
    ...(knee
      ? [
          `At the knee, ${printPolicy(knee.policy)}, they wait up to ${span(knee.wait.p99)}, with ${count(knee.callsPerHour)} calls per hour and ${dollars(knee.perDay)} per day.`,
        ]
      : []),
  ].join(' ');

const legend = ({ knee }: Varied): string =>
  [
    `<circle cx="${LEFT + 6}" cy="32" r="4" class="fill sent"/><text x="${LEFT + 18}" y="36">a policy (pale: dominated)</text>`,
    `<circle cx="${LEFT + 246}" cy="32" r="6" class="now"/><text x="${LEFT + 260}" y="36">as configured</text>`,
    ...(knee
      ? [
          `<circle cx="${LEFT + 376}" cy="32" r="8" class="knee"/><text x="${LEFT + 392}" y="36">knee: ${escaped(printPolicy(knee.policy))}</text>`,
        ]
      : []),
  ].join('');

const marks = (
  { tried, front, knee }: Varied,
  current: Figures,
  { of, title, label }: Axis,
  x: Scale,
  y: Scale,
): string[] => {
  const at = (figures: Figures): readonly [number, number] => [x.at(Math.max(1, figures.wait.p99)), y.at(of(figures))];
  const dots = tried.map((each) => {
    const [cx, cy] = at(each);
    const said = `${printPolicy(each.policy)}: 99% wait up to ${span(each.wait.p99)}, ${label(of(each))} ${title}`;
    return `<circle cx="${cx}" cy="${cy}" r="4" class="fill sent"${front.includes(each) ? '' : ' opacity=".35"'}><title>${escaped(said)}</title></circle>`;
  });
  const [nowX, nowY] = at(current);
  const ring = knee ? [`<circle cx="${at(knee)[0]}" cy="${at(knee)[1]}" r="8" class="knee"/>`] : [];
  return [
    frontLine(front, at),
    ...names(front, at),
    ...dots,
    ...ring,
    `<circle cx="${nowX}" cy="${nowY}" r="6" class="now"><title>as configured</title></circle>`,
  ];
};

/** Connects the points of the Pareto front. */
const frontLine = (front: readonly Tried[], at: (figures: Figures) => readonly [number, number]): string => {
  const sorted = front.toSorted((a, b) => a.wait.p99 - b.wait.p99);
  const path = sorted.map((each) => at(each).join(' ')).join('L');
  return sorted.length > 1 ? `<path d="M${path}" class="thin"/>` : '';
};

/** Maximum number of points that get a label. More labels would overlap. */
const NAMED = 12;

const names = (front: readonly Tried[], at: (figures: Figures) => readonly [number, number]): string[] =>
  front.length > NAMED
    ? []
    : front.map((each) => {
        const [x, y] = at(each);
        return `<text x="${x + 9}" y="${y - 7}" class="l h">${escaped(valuesOf(each))}</text>`;
      });

const valuesOf = ({ policy }: Tried): string =>
  (Object.entries(policy) as [SettingName, number][]).map(([name, value]) => written(name, value)).join(', ');
