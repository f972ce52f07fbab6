/** The node that worked on each partition in one scenario, and moves in all scenarios. The SVG has its own card for dark pages. */
import type { Millis } from '../../src/domain/ids.ts';
import type { FleetOutcome } from '../../verification/fleets/scenario.ts';
import { CONTENDERS, type MainName } from './contenders.ts';
import type { Run } from './runs.ts';
import { PARTITIONS } from './scenarios.ts';

const WIDTH = 1_120;
/** The layout of the two panels: distance from the card's edges, width, and height of a partition. */
const [LEFT, TOP, WIDE, ROW] = [64, 84, 1_020, 2.5];
const TALL = PARTITIONS * ROW;
/** The distance between the tops of the panels, and the distances and sizes of the bars. */
const [STEP, BAR, GROUP, LABELS] = [TALL + 70, 7, 30, 190];
const MINUTE: Millis = 60_000;

const NODES = ['#0969da', '#bf8700', '#1a7f37', '#8250df', '#cf222e'] as const;
const BARS: Readonly<Record<MainName, string>> = {
  Groupage: '#0969da',
  published: '#cf222e',
  'locks with renewals': '#bf8700',
};

const STYLE = `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.t{font-size:15px;font-weight:600} .l{font-size:12px;fill:#57606a} .n{font-size:10px;fill:#57606a}
.y{text-anchor:end} .x{text-anchor:middle} .g{stroke:#d0d7de;stroke-width:1} .p{fill:#f6f8fa} .w{fill:none;stroke-width:${ROW}}
${NODES.map((colour, index) => `.n${index}{stroke:${colour}}`).join(' ')}`;

/**
 * @param told the runs of one scenario, for the two panels
 * @param runs the runs whose moves are compared
 */
export const pictureOf = (told: readonly Run[], runs: readonly Run[]): string => {
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const below = TOP + told.length * STEP + 20;
  const height = below + scenarios.length * GROUP + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${altOf(told)}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect x="0" y="0" width="${WIDTH}" height="${height}" rx="12" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="36" class="t">Node that worked on each of ${PARTITIONS} partitions: ${told[0]?.scenario}, ${told[0]?.nodes} nodes</text>`,
    ...told.map((run, index) => panel(run, TOP + index * STEP)),
    `<text x="${LEFT}" y="${below - 24}" class="t">Partitions moved in half an hour, with ${runs[0]?.nodes} nodes</text>`,
    ...CONTENDERS.map((name, index) => legend(name, 470 + index * 190, below - 24)),
    bars(runs, scenarios, below),
    '</svg>\n',
  ].join('\n');
};

export const altOf = (told: readonly Run[]): string =>
  `Which node worked on each partition over half an hour, in the scenario ${told[0]?.scenario}: ${told
    .map(({ contender, outcome }) => `with ${contender} ${outcome.moved} moved`)
    .join(', ')}. Below: partitions moved in each scenario.`;

const short = (value: number): number => Number(value.toFixed(1));

/**
 * A panel with a line for each partition in the colour of its node. The line has gaps while no node works on the
 * partition.
 */
const panel = ({ contender, outcome, timing }: Run, top: number): string => {
  const { measureFrom, endsAt } = timing;
  const x = (at: Millis): number => short(((Math.max(at, measureFrom) - measureFrom) / (endsAt - measureFrom)) * WIDE);
  const names = [...new Set(outcome.worked.map(({ node }) => node))].sort();
  const rows = rowsOf(outcome.worked.filter(({ to }) => to > measureFrom));
  const lines = names.map((name, index) => {
    const stretches = outcome.worked.filter(({ node, to }) => node === name && to > measureFrom);
    const path = stretches.map(
      ({ partition, from, to }) => `M${x(from)} ${(rows.indexOf(partition) + 0.5) * ROW}H${x(to)}`,
    );
    return `<path d="${path.join('')}" class="w n${index % NODES.length}"/>`;
  });
  const minutes = Array.from(
    { length: Math.floor((endsAt - measureFrom) / (5 * MINUTE)) + 1 },
    (_, index) => index * 5,
  );
  const marks = minutes.map(
    (at) => `<text x="${x(measureFrom + at * MINUTE)}" y="${TALL + 16}" class="l x">${at} min</text>`,
  );
  return [
    `<g transform="translate(${LEFT} ${top})"><text x="0" y="-10" class="l">${contender}: ${outcome.moved} moved</text>`,
    `<rect x="0" y="0" width="${WIDE}" height="${TALL}" class="p"/>`,
    ...lines,
    `${marks.join('')}</g>`,
  ].join('\n');
};

/** The partitions ordered by their first node, so that partitions that do not move form one area. */
const rowsOf = (worked: FleetOutcome['worked']): readonly string[] => {
  const first = new Map<string, string>();
  for (const { partition, node } of worked.toSorted((a, b) => a.from - b.from))
    if (!first.has(partition)) first.set(partition, node);
  return [...first]
    .sort(([p, a], [q, b]) => a.localeCompare(b, 'en', { numeric: true }) || Number(p) - Number(q))
    .map(([partition]) => partition);
};

const legend = (name: MainName, x: number, y: number): string =>
  `<rect x="${x}" y="${y - 9}" width="12" height="9" fill="${BARS[name]}"/><text x="${x + 18}" y="${y}" class="l">${name}</text>`;

const bars = (runs: readonly Run[], scenarios: readonly string[], top: number): string => {
  const most = Math.max(1, ...runs.map(({ outcome }) => outcome.moved));
  const groups = scenarios.map((scenario, row) => {
    const y = row * GROUP;
    const each = CONTENDERS.map((name, index) => {
      const moved = runs.find((run) => run.scenario === scenario && run.contender === name)?.outcome.moved ?? 0;
      const [at, wide] = [y + index * (BAR + 1), short((moved / most) * (WIDE - LABELS - 40))];
      return `<rect x="${LABELS}" y="${at}" width="${wide}" height="${BAR}" fill="${BARS[name]}"/><text x="${LABELS + wide + 4}" y="${at + BAR}" class="n">${moved}</text>`;
    });
    return `<text x="${LABELS - 10}" y="${y + 16}" class="l y">${scenario}</text>${each.join('')}`;
  });
  return `<g transform="translate(${LEFT} ${top})">${groups.join('\n')}</g>`;
};
