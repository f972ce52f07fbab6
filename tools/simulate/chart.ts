/** Draws SVG charts: axes with units, lines, areas and points. */

/** Colours of the charts, for light and dark pages. */
const CHART_STYLE = `svg{--ink:#1f2328;--soft:#57606a;--grid:#d0d7de;--card:#ffffff;--sent:#0969da;--wait:#9a6700;--call:#1a7f37;--bad:#cf222e}
svg text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink);font-size:12px}
svg .t{font-size:14px;font-weight:600} svg .l{fill:var(--soft)} svg .y{text-anchor:end} svg .x{text-anchor:middle}
svg .g{stroke:var(--grid);stroke-width:1;fill:none} svg .card{fill:var(--card)} svg .h{stroke:var(--card);stroke-width:4;paint-order:stroke}
svg .line{fill:none;stroke-width:2;stroke-linejoin:round} svg .area{fill-opacity:.15;stroke:none} svg .thin{stroke:var(--soft);stroke-width:1;fill:none}
${['sent', 'wait', 'call', 'bad'].map((name) => `svg .line.${name}{stroke:var(--${name})} svg .fill.${name},svg .area.${name}{fill:var(--${name})}`).join(' ')}
svg .now{fill:var(--card);stroke:var(--bad);stroke-width:2.5} svg .knee{fill:none;stroke:var(--sent);stroke-width:2.5}`;

export const DARK_STYLE =
  'svg{--ink:#e6edf3;--soft:#9198a1;--grid:#3d444d;--card:#0d1117;--sent:#4493f8;--wait:#d29922;--call:#3fb950;--bad:#f85149}';

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
}

const near = (value: number): number => Number(value.toFixed(1));

/** A linear scale from 0 to a round number of at least `most`, in four to six steps. */
export const linear = (most: number, from: number, to: number): Scale => {
  const rough = (most > 0 ? most : 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  const steps = Math.max(1, Math.ceil((most > 0 ? most : 1) / step));
  return {
    ticks: Array.from({ length: steps + 1 }, (_, n) => n * step),
    at: (value) => near(from + (value / (steps * step)) * (to - from)),
  };
};

/** A linear scale of milliseconds since the start, with round steps of time. */
export const inTime = (most: number, from: number, to: number): Scale => {
  const step = STEPS.find((each) => most / each <= 8) ?? Math.ceil(most / 8 / DAY) * DAY;
  return {
    ticks: Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => n * step),
    at: (value) => near(from + (value / Math.max(1, most)) * (to - from)),
  };
};

const DAY = 86_400_000;
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map((each) => each * 1_000);

/** A logarithmic scale of positive values in milliseconds, with round steps of time. */
export const logInTime = (values: readonly number[], from: number, to: number): Scale => {
  const [least, most] = [Math.min(...values) / 1.15, Math.max(...values) * 1.15];
  const [low, high] = [Math.log10(least), Math.log10(most)];
  const within = WAITS.filter((each) => each >= least && each <= most);
  const every = Math.ceil(within.length / 8);
  return {
    ticks: within.filter((_, index) => index % every === 0),
    at: (value) => near(from + ((Math.log10(value) - low) / (high - low)) * (to - from)),
  };
};

const WAITS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 60, 120, 300, 600, 1_200, 3_600, 7_200, 18_000, 36_000, 86_400].map((each) => each * 1_000),
];

export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly x: Scale;
  readonly y: Scale;
  readonly xLabel: (value: number) => string;
  readonly yLabel: (value: number) => string;
  /** Label of the x axis; absent if the panel below has it. */
  readonly along?: string;
}

/** Draws a panel's axes and contents. The origin of the contents is the upper left corner. */
export const panel = (
  { left, top, width, height, title, x, y, xLabel, yLabel, along }: Panel,
  inside: readonly string[],
): string => {
  const across = y.ticks.map(
    (value) =>
      `<path d="M0 ${y.at(value)}H${width}" class="g"/><text x="-8" y="${y.at(value) + 4}" class="l y">${escaped(yLabel(value))}</text>`,
  );
  const up = x.ticks.map(
    (value) =>
      `<path d="M${x.at(value)} ${height}v5" class="g"/><text x="${x.at(value)}" y="${height + 19}" class="l x">${escaped(xLabel(value))}</text>`,
  );
  const name =
    along === undefined ? '' : `<text x="${width / 2}" y="${height + 40}" class="l x">${escaped(along)}</text>`;
  return `<g transform="translate(${left} ${top})"><text x="0" y="-12" class="t">${escaped(title)}</text>${[...across, ...up].join('')}${name}\n${inside.join('\n')}</g>`;
};

/** A complete picture with a background. @param description text for screen readers */
export const picture = (
  { width, height, title, description }: { width: number; height: number; title: string; description: string },
  inside: readonly string[],
): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(description)}">`,
    `<title>${escaped(title)}</title><desc>${escaped(description)}</desc>`,
    `<style>\n${CHART_STYLE}\n</style>`,
    `<rect x="0" y="0" width="${width}" height="${height}" rx="12" fill="#ffffff" class="card"/>`,
    ...inside,
    '</svg>\n',
  ].join('\n');
