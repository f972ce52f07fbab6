/** Draws the timeline of a simulation, and the waits of its tasks. */
import { escaped, inTime, linear, type Panel, panel, picture } from './chart.ts';
import { count, span } from './figures.ts';
import type { Outcome, Stretch } from './outcome.ts';

const [WIDTH, LEFT, WIDE, TALL, STEP, TOP] = [900, 84, 780, 110, 170, 50];
const BAR = 16;

/** Tasks sent, tasks waiting and calls over time; below them the waits of tasks. */
export const timelinePicture = (outcome: Outcome): string => {
  const { timeline, operations } = outcome;
  const length = (timeline[1]?.at ?? 1_000) - (timeline[0]?.at ?? 0);
  const most = length * Math.max(1, timeline.length);
  const perSecond = (many: number): number => (many * 1_000) / length;
  const below = TOP + 3 * STEP + 20;
  const height = below + operations.length * (4 * (BAR + 4) + 30) + 50;
  const panels = [
    rate('tasks sent per second', timeline, ({ arrived }) => perSecond(arrived), 'sent', most, 0),
    rate('tasks waiting for their first call', timeline, ({ waiting }) => waiting, 'wait', most, 1),
    rate(
      'calls per second (red: throttled)',
      timeline,
      ({ calls }) => perSecond(calls),
      'call',
      most,
      2,
      ({ throttled }) => perSecond(throttled),
    ),
  ];
  const description = operations
    .map(
      ({ operation, tasks, calls, waits }) =>
        `${operation}: ${count(tasks)} tasks in ${count(calls)} calls; median wait ${span(waits.p50)}, 99% waited up to ${span(waits.p99)}`,
    )
    .join('. ');
  return picture({ width: WIDTH, height, title: 'Timeline of the simulation', description }, [
    ...panels,
    waitBars(outcome, below),
  ]);
};

const rate = (
  title: string,
  timeline: readonly Stretch[],
  of: (stretch: Stretch) => number,
  colour: string,
  most: number,
  row: number,
  bad?: (stretch: Stretch) => number,
): string => {
  const x = inTime(most, 0, WIDE);
  const y = linear(Math.max(0, ...timeline.map(of)), TALL, 0);
  const length = timeline.length > 0 ? most / timeline.length : most;
  const outline = (value: (stretch: Stretch) => number): string =>
    timeline
      .map((each) => `${x.at(each.at)} ${y.at(value(each))}H${x.at(each.at + length)}`)
      .join('V')
      .replaceAll(/V[\d.]+ /g, 'V');
  const axes: Panel = {
    left: LEFT,
    top: TOP + row * STEP,
    width: WIDE,
    height: TALL,
    title,
    x,
    y,
    xLabel: (at) => (at === 0 ? '0' : span(at)),
    yLabel: count,
    ...(row === 2 ? { along: 'since the first task' } : {}),
  };
  const isBad = bad !== undefined && timeline.some((each) => bad(each) > 0);
  return panel(
    axes,
    timeline.length === 0
      ? []
      : [
          `<path d="M0 ${TALL}L${outline(of)}V${TALL}Z" class="area ${colour}"/><path d="M${outline(of)}" class="line ${colour}"/>`,
          ...(isBad ? [`<path d="M${outline(bad)}" class="line bad"/>`] : []),
        ],
  );
};

const waitBars = ({ operations }: Outcome, top: number): string => {
  const longest = Math.max(1, ...operations.map(({ waits }) => waits.max));
  const width = WIDE - 160;
  const groups = operations.map(({ operation, waits }, group) => {
    const y = 14 + group * (4 * (BAR + 4) + 30);
    const ranks = [
      ['50%', waits.p50],
      ['95%', waits.p95],
      ['99%', waits.p99],
      ['all', waits.max],
    ] as const;
    const bars = ranks.map(([name, value], index) => {
      const [at, wide] = [y + 10 + index * (BAR + 4), Number(((value / longest) * width).toFixed(1))];
      return `<text x="52" y="${at + 12}" class="l y">${name}</text><rect x="60" y="${at}" width="${wide}" height="${BAR}" class="fill wait"/><text x="${wide + 66}" y="${at + 12}">${span(value)}</text>`;
    });
    return `<text x="0" y="${y}" class="l">${escaped(operation)}: share of tasks and their longest wait</text>${bars.join('')}`;
  });
  return `<g transform="translate(${LEFT} ${top})"><text x="0" y="-12" class="t">wait of tasks for their first call</text>\n${groups.join('\n')}</g>`;
};
