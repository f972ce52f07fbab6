/** Aims of `--recommend --aim`: `p99 wait < 5s`, `calls < 1000/h`, `cost < $3/day`, `fill > 0.9`. */

import { parseDuration } from '../../src/domain/config/duration.ts';
import type { Parsed } from '../../src/util/problems.ts';
import type { Figures } from './figures.ts';
import { perSecondIn } from './name-values.ts';

export interface Aim {
  /** The aim as given by the user. */
  readonly text: string;
  /** Reads the figure that the aim limits. */
  readonly of: (figures: Figures) => number;
  readonly atMost: boolean;
  readonly bound: number;
  readonly isWait: boolean;
}

type Measure = Pick<Aim, 'of' | 'atMost'> & {
  readonly names: RegExp;
  readonly bound: (text: string) => number | undefined;
  readonly takes: string;
};

const perHour = (text: string): number | undefined => {
  const calls = perSecondIn(text);
  return calls === undefined ? undefined : calls * 3_600;
};

const dollarsFor =
  (unit: RegExp) =>
  (text: string): number | undefined => {
    const [, amount, of] = /^\$?(\d{1,9}(?:\.\d{1,6})?)\/(.+)$/.exec(text) ?? [];
    return amount !== undefined && of !== undefined && unit.test(of) ? Number(amount) : undefined;
  };

const share = (text: string): number | undefined => {
  const [, number, sign] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? [];
  const value = number === undefined ? undefined : Number(number) / (sign === '%' ? 100 : 1);
  return value !== undefined && value <= 1 ? value : undefined;
};

const waits: readonly Measure[] = (['mean', 'p50', 'p95', 'p99', 'max'] as const).map((rank) => ({
  names: new RegExp(`^(?:${rank} wait|wait ${rank})$`),
  of: ({ wait }) => wait[rank],
  atMost: true,
  bound: parseDuration,
  takes: `${rank} wait < a duration, such as 5s`,
}));

const MEASURES: readonly Measure[] = [
  ...waits,
  {
    names: /^calls$/,
    of: ({ callsPerHour }) => callsPerHour,
    atMost: true,
    bound: perHour,
    takes: 'calls < a rate, such as 1000/h or 2/s',
  },
  {
    names: /^cost$/,
    of: ({ perDay }) => perDay,
    atMost: true,
    bound: dollarsFor(/^(?:day|d)$/),
    takes: 'cost < an amount in dollars, such as $3/day or $4/million',
  },
  {
    names: /^cost$/,
    of: ({ perMillion }) => perMillion,
    atMost: true,
    bound: dollarsFor(/^million$/),
    takes: 'cost < an amount in dollars, such as $3/day or $4/million',
  },
  { names: /^fill$/, of: ({ fill }) => fill, atMost: false, bound: share, takes: 'fill > a share, such as 0.9 or 90%' },
];

/** Parses an aim. A problem has the aim's text as its path. */
export const aimFrom = (text: string): Parsed<Aim> => {
  const refused = (reason: string): Parsed<Aim> => ({ ok: false, problems: [{ path: `"${text}"`, reason }] });
  const [, name = '', sign, bound = ''] = /^\s*([a-z0-9 ]*?)\s*([<>])=?\s*(\S+)\s*$/i.exec(text) ?? [];
  const meant = MEASURES.filter(({ names }) => names.test(name.toLowerCase().replace(/\s+/g, ' ')));
  const takes = [...new Set((meant.length > 0 ? meant : MEASURES).map((each) => each.takes))].join('; ');
  for (const measure of meant) {
    const value = measure.bound(bound);
    if (value === undefined || measure.atMost !== (sign === '<')) continue;
    return {
      ok: true,
      value: { text, of: measure.of, atMost: measure.atMost, bound: value, isWait: waits.includes(measure) },
    };
  }
  return refused(`is not a valid aim. Valid: ${takes}`);
};

/** Relative distance to an aim; 0 if the aim is met. */
export const missedBy = ({ of, atMost, bound }: Aim, figures: Figures): number => {
  const value = of(figures);
  const beyond = atMost ? value - bound : bound - value;
  // For a bound of 0, use the absolute distance.
  return Math.max(0, beyond) / (bound === 0 ? 1 : bound);
};

export const isMet = (aim: Aim, figures: Figures): boolean => missedBy(aim, figures) === 0;
