/** A picture of bars: the calls of each way, its price, and how long tasks wait. */
import { fillOf, type Measures } from '../measures.ts';
import { type Compared, named } from '../report.ts';
import { VARIANTS } from '../variants.ts';
import { COLOURS, card, WIDTH } from './card.ts';

const [TOP, ROW, GAP, BAR] = [92, 18, 26, 13];
const LABELS = 130;

interface Panel {
  readonly title: string;
  readonly left: number;
  readonly wide: number;
  readonly of: (measures: Measures) => number;
  readonly print: (value: number) => string;
  /** The value at which bars begin. The length of a bar is the logarithm of the ratio to this value. */
  readonly from: number;
}

const PANELS: readonly Panel[] = [
  {
    title: 'calls, × the fewest possible',
    left: LABELS,
    wide: 250,
    of: (measures) => 1 / Math.max(fillOf(measures), 0.001),
    print: (value) => `${named(value)}×`,
    from: 0.8,
  },
  {
    title: 'dollars per million tasks',
    left: LABELS + 330,
    wide: 230,
    of: ({ perMillion }) => perMillion,
    print: (value) => `$${value.toFixed(2)}`,
    from: 0.05,
  },
  {
    title: 'wait p99',
    left: LABELS + 650,
    wide: 250,
    of: ({ waits }) => waits.p99 / 1_000,
    print: (value) => `${value.toFixed(2)} s`,
    from: 0.05,
  },
];

/** All lengths are logarithmic. */
export const barsPicture = (compared: readonly Compared[]): string => {
  const tall = VARIANTS.length * ROW + GAP;
  const height = TOP + compared.length * tall + 24;
  const groups = compared.map(
    ({ load }, index) =>
      `<text x="${LABELS - 14}" y="${TOP + index * tall + (VARIANTS.length * ROW) / 2 + 4}" class="t y">${load.name}</text>`,
  );
  return card(height, altOfBars(compared), LABELS, [
    ...groups,
    ...PANELS.map((panel) => panelOf(panel, compared, tall)),
    `<text x="${WIDTH - 24}" y="${height - 10}" class="l y">logarithmic scale</text>`,
  ]);
};

const panelOf = (
  { title, left, wide, of, print, from }: Panel,
  compared: readonly Compared[],
  tall: number,
): string => {
  const most = Math.max(...compared.flatMap(({ runs }) => runs.map(({ measures }) => of(measures))), from * 10);
  const length = (value: number): number =>
    Number(((Math.log(Math.max(value, from * 1.05) / from) / Math.log(most / from)) * wide).toFixed(1));
  const bars = compared.flatMap(({ runs }, group) =>
    runs.map(({ variant, measures }) => {
      const index = VARIANTS.indexOf(variant);
      const y = TOP + group * tall + index * ROW;
      const long = length(of(measures));
      return `<rect x="${left}" y="${y}" width="${long}" height="${BAR}" fill="${COLOURS[index]}"/><text x="${left + long + 6}" y="${y + 11}" class="l">${print(of(measures))}</text>`;
    }),
  );
  return [`<text x="${left}" y="${TOP - 18}" class="t">${title}</text>`, ...bars].join('\n');
};

export const altOfBars = (compared: readonly Compared[]): string =>
  `Calls, price and wait of ${VARIANTS.length} ways to call a batch API, under ${compared.length} loads; the tables below have the figures.`;
