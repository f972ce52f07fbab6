/** The cost curves as a picture: a plain SVG with a card of its own, so that it is readable on a dark page. */
import { ALT } from './report.ts';
import { WAYS, type WayCost, type WayName } from './variants.ts';

const [WIDTH, HEIGHT] = [1_120, 420];
/** The layout of a panel: its distance from the card's edges, its width and height, and the step to the next panel. */
const [LEFT, TOP, PANEL, TALL, STEP] = [64, 84, 280, 260, 364];

const COLOURS: Readonly<Record<WayName, string>> = { scan: '#cf222e', pop: '#9a6700', tokens: '#0969da' };
const LABELS: Readonly<Record<WayName, string>> = {
  scan: 'scan for the first free job',
  pop: 'pop from a stored list of ids',
  tokens: 'tokens (Groupage)',
};

const PANELS: readonly (readonly [string, (cost: WayCost) => number])[] = [
  ['write units per claim', ({ writeUnits }) => writeUnits],
  ['read units per claim', ({ readUnits }) => readUnits],
  ['milliseconds per claim', ({ ms }) => ms],
];

const STYLE = `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.t{font-size:15px;font-weight:600} .l{font-size:12px;fill:#57606a} .y{text-anchor:end} .x{text-anchor:middle}
.g{stroke:#d0d7de;stroke-width:1} .h{stroke:#ffffff;stroke-width:4;paint-order:stroke} .w{fill:none;stroke-width:2.5}
${WAYS.map((way) => `.${way}{stroke:${COLOURS[way]}} circle.${way}{fill:${COLOURS[way]}}`).join(' ')}`;

/** Both axes are logarithmic. Each grid line is a power of ten. */
export const pictureOf = (costs: readonly WayCost[]): string => {
  const jobs = costs.map((cost) => cost.jobs);
  const x = scale(decades(jobs), 0, PANEL);
  const panels = PANELS.map(([title, of], index) => panel(costs, title, of, x, LEFT + index * STEP));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${ALT}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect x="0" y="0" width="${WIDTH}" height="${HEIGHT}" rx="12" fill="#ffffff"/>`,
    ...WAYS.map(legend),
    ...panels,
    `<text x="${WIDTH / 2}" y="${TOP + TALL + 52}" class="l x">jobs in the list; both axes are logarithmic</text>`,
    '</svg>\n',
  ].join('\n');
};

const legend = (way: WayName, index: number): string => {
  const at = LEFT + index * 300;
  return `<path d="M${at} 30H${at + 26}" class="w ${way}"/><text x="${at + 34}" y="35" class="t">${LABELS[way]}</text>`;
};

/** The ends of an axis that contains all values, as powers of ten. */
const decades = (values: readonly number[]): readonly [number, number] => {
  const [least, most] = [Math.min(...values), Math.max(...values)].map(Math.log10) as [number, number];
  return [Math.floor(least), Math.max(Math.ceil(most), Math.floor(least) + 1)];
};

interface Scale {
  readonly lines: readonly number[];
  at(value: number): number;
}

const scale = ([from, to]: readonly [number, number], start: number, end: number): Scale => ({
  lines: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
  at: (value) => Number((start + ((Math.log10(value) - from) / (to - from)) * (end - start)).toFixed(1)),
});

const named = (value: number): string => value.toLocaleString('en');

const panel = (
  costs: readonly WayCost[],
  title: string,
  of: (cost: WayCost) => number,
  x: Scale,
  left: number,
): string => {
  const y = scale(decades(costs.map(of)), TALL, 0);
  const across = y.lines.map(
    (value) =>
      `<path d="M0 ${y.at(value)}H${PANEL}" class="g"/><text x="-8" y="${y.at(value) + 4}" class="l y">${named(value)}</text>`,
  );
  const up = x.lines.map((value) => `<text x="${x.at(value)}" y="${TALL + 20}" class="l x">${named(value)}</text>`);
  const lines = WAYS.map((way) => {
    const points = costs.filter((cost) => cost.way === way).map((cost) => [x.at(cost.jobs), y.at(of(cost))] as const);
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" class="${way}"/>`);
    return `<path d="M${points.map((point) => point.join(' ')).join('L')}" class="w ${way}"/>${dots.join('')}${way === 'pop' ? end(points.at(-1)) : ''}`;
  });
  return `<g transform="translate(${left} ${TOP})"><text x="0" y="-14" class="t">${title}</text>${[...across, ...up, ...lines].join('')}</g>`;
};

/** Labels the end of a curve: the longest list that fits into a row. */
const end = (point: readonly [number, number] | undefined): string =>
  point ? `<text x="${point[0] - 8}" y="${point[1] - 6}" class="l y h">400 KB: row is full</text>` : '';
