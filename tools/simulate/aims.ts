/** What a policy shall achieve, as `--aim` says it: `p99 wait < 5s`, `calls < 1000/h`, `cost < $3/day`, `fill > 0.9`. */

import { parseDuration } from '../../src/domain/config/duration.ts';
import type { Parsed } from '../../src/util/problems.ts';
import type { Figures } from './figures.ts';
import { perSecondIn } from './name-values.ts';

export interface Aim {
  /** As it was given. */
  readonly text: string;
  /** What it looks at. */
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
    takes: 'calls < so many in which time, such as 1000/h or 2/s',
  },
  {
    names: /^cost$/,
    of: ({ perDay }) => perDay,
    atMost: true,
    bound: dollarsFor(/^(?:day|d)$/),
    takes: 'cost < dollars, such as $3/day or $4/million',
  },
  {
    names: /^cost$/,
    of: ({ perMillion }) => perMillion,
    atMost: true,
    bound: dollarsFor(/^million$/),
    takes: 'cost < dollars, such as $3/day or $4/million',
  },
  { names: /^fill$/, of: ({ fill }) => fill, atMost: false, bound: share, takes: 'fill > a share, such as 0.9 or 90%' },
];

/** An aim that has none of the forms is a problem with its text as path. */
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
  return refused(`is no aim: ${takes}`);
};

/** By how much an aim is missed, as a share of it: 0 where it is met. */
export const missedBy = ({ of, atMost, bound }: Aim, figures: Figures): number => {
  const value = of(figures);
  const beyond = atMost ? value - bound : bound - value;
  // A bound of 0 is missed by as much as there is.
  return Math.max(0, beyond) / (bound === 0 ? 1 : bound);
};

export const isMet = (aim: Aim, figures: Figures): boolean => missedBy(aim, figures) === 0;
