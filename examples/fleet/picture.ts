/**
 * Draws the owner of each partition over time as an SVG. The SVG has a background of its own, so that it is readable on
 * a dark page.
 */
import type { Owned } from './owners.ts';

export interface Shown {
  readonly spans: readonly Owned[];
  readonly workers: readonly string[];
  readonly partitions: number;
  /** Incidents, and their times in ms after `from`. */
  readonly incidents: readonly { readonly at: number; readonly name: string }[];
  readonly from: number;
  readonly to: number;
}

const ALT =
  'Which worker owned each partition of the flights stream over time, while workers joined, died and were restarted';
const COLOURS = ['#0969da', '#bf8700', '#1a7f37', '#8250df', '#cf222e'] as const;
const [WIDTH, LEFT, RIGHT, TOP, ROW, BAR] = [1_120, 64, 24, 108, 19, 15] as const;

const STYLE = `text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2328}
.t{font-size:15px;font-weight:600} .l{font-size:12px;fill:#57606a} .y{text-anchor:end} .x{text-anchor:middle}
.n{fill:#eaeef2} .i{stroke:#1f2328;stroke-width:1.5;stroke-dasharray:4 3} .g{stroke:#d0d7de;stroke-width:1}
${COLOURS.map((colour, index) => `.w${index}{fill:${colour}}`).join(' ')}`;

export const pictureOf = ({ spans, workers, partitions, incidents, from, to }: Shown): string => {
  const x = (at: number): number => round(LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
  const bottom = TOP + partitions * ROW;
  const height = bottom + 56;
  const rows = Array.from({ length: partitions }, (_, index) => {
    const y = TOP + index * ROW;
    const bars = spans
      .filter(({ partition }) => partition === String(index))
      .map((span) => bar(x(Math.max(span.from, from)), x(Math.min(span.to, to)), y, workers.indexOf(span.worker)));
    const unowned = `<rect x="${LEFT}" y="${y}" width="${WIDTH - LEFT - RIGHT}" height="${BAR}" class="n"/>`;
    return `<text x="${LEFT - 8}" y="${y + 12}" class="l y">${index}</text>${unowned}${bars.join('')}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${ALT}">`,
    `<style>\n${STYLE}\n</style>`,
    `<rect x="0" y="0" width="${WIDTH}" height="${height}" rx="12" fill="#ffffff"/>`,
    ...workers.map(legend),
    `<rect x="${LEFT + workers.length * 90}" y="22" width="26" height="14" class="n"/><text x="${LEFT + workers.length * 90 + 34}" y="34" class="t">no owner</text>`,
    ...ticks(to - from).map((second) => tick(second, x(from + second * 1_000), bottom)),
    ...rows,
    ...incidents.map(({ at, name }, index) => incident(name, x(from + at), TOP - 14 - (index % 2) * 18, bottom)),
    `<text x="${WIDTH / 2}" y="${bottom + 42}" class="l x">seconds; one row per partition</text>`,
    '</svg>\n',
  ].join('\n');
};

const round = (value: number): number => Number(value.toFixed(1));

const bar = (from: number, to: number, y: number, worker: number): string =>
  `<rect x="${from}" y="${y}" width="${round(Math.max(0, to - from))}" height="${BAR}" class="w${worker}"/>`;

const legend = (worker: string, index: number): string => {
  const at = LEFT + index * 90;
  return `<rect x="${at}" y="22" width="26" height="14" class="w${index}"/><text x="${at + 34}" y="34" class="t">${worker}</text>`;
};

const ticks = (span: number): readonly number[] =>
  Array.from({ length: Math.floor(span / 10_000) + 1 }, (_, index) => index * 10);

const tick = (second: number, at: number, bottom: number): string =>
  `<path d="M${at} ${bottom}v5" class="g"/><text x="${at}" y="${bottom + 20}" class="l x">${second}</text>`;

const incident = (name: string, at: number, y: number, bottom: number): string =>
  `<path d="M${at} ${y + 5}V${bottom}" class="i"/><text x="${at}" y="${y}" class="l x">${name}</text>`;
