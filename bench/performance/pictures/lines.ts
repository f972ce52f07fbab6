/** A picture of lines: the total price of a million tasks against the price of a downstream call. */
import { inAll } from '../measures.ts';
import { type Compared, named } from '../report.ts';
import { VARIANTS } from '../variants.ts';
import { COLOURS, card, WIDTH } from './card.ts';

/** The layout of the panels: distance from the card's edges, width and height, and the step to the next panel. */
const [LEFT, TOP, WIDE, TALL, STEP] = [64, 92, 172, 250, 212];
/** The ranges of both axes, as powers of ten: dollars per million calls, and dollars per million tasks. */
const [CALLS, TASKS] = [
  [-2, 3],
  [-2, 3],
] as const;

const place = (value: number, [least, most]: readonly [number, number], long: number): number =>
  Number((((Math.min(Math.max(Math.log10(value), least), most) - least) / (most - least)) * long).toFixed(1));

/** Both axes are logarithmic. */
export const linesPicture = (compared: readonly Compared[]): string =>
  card(TOP + TALL + 70, altOfLines(compared), LEFT, [
    ...compared.map(panel),
    `<text x="${WIDTH / 2}" y="${TOP + TALL + 50}" class="l x">horizontal: price of a million downstream calls in dollars; vertical: a million tasks including their calls, in dollars; both logarithmic</text>`,
  ]);

const powers = ([least, most]: readonly [number, number]): number[] =>
  Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index));

const printed = (value: number): string => (value >= 1 ? named(value) : String(value));

/** The number of points per power of ten. */
const POINTS = 8;

/** A panel. Only the first panel has numbers at its side, because all panels have the same scale. */
const panel = ({ load, runs }: Compared, index: number): string => {
  const x = (value: number): number => place(value, CALLS, WIDE);
  const y = (value: number): number => Number((TALL - place(value, TASKS, TALL)).toFixed(1));
  const across = powers(TASKS).map(
    (value) =>
      `<path d="M0 ${y(value)}H${WIDE}" class="g"/><text x="-6" y="${y(value) + 4}" class="l y">${index === 0 ? printed(value) : ''}</text>`,
  );
  const up = powers(CALLS)
    .filter((_, index) => index % 2 === 0)
    .map((value) => `<text x="${x(value)}" y="${TALL + 18}" class="l x">${printed(value)}</text>`);
  const prices = Array.from(
    { length: (CALLS[1] - CALLS[0]) * POINTS + 1 },
    (_, index) => 10 ** (CALLS[0] + index / POINTS),
  );
  const lines = runs.map(({ variant, measures }) => {
    const points = prices.map((price) => `${x(price)} ${y(inAll(measures, price / 1_000_000))}`);
    return `<path d="M${points.join('L')}" class="w" stroke="${COLOURS[VARIANTS.indexOf(variant)]}"/>`;
  });
  return `<g transform="translate(${LEFT + index * STEP} ${TOP})"><text x="0" y="-16" class="t">${load.name}</text>${[...across, ...up, ...lines].join('')}</g>`;
};

export const altOfLines = (compared: readonly Compared[]): string =>
  `Total price of a million tasks against the price of a call, for ${VARIANTS.length} ways under ${compared.length} loads: the more a call costs, the cheaper are the ways with few calls.`;
