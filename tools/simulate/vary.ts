/** A grid of policies over one trace: what waiting buys. */

import type { Config } from '../../src/domain/config/resolved.ts';
import { describeInBrief, type Parsed } from '../../src/util/problems.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { Setting } from './job.ts';
import { frontOf, kneeOf, type Point } from './knee.ts';
import { type SimulateAll, withThreads } from './many.ts';
import { duration, parseNameValues, type Reader, wholeWithin } from './name-values.ts';
import type { Outcome } from './outcome.ts';
import { configWith, type Policy, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts';

/** The values that each setting takes. */
export type Axes = Readonly<Partial<Record<SettingName, readonly number[]>>>;

/** Of a range: alone, and of each of two. */
const [STEPS_OF_ONE, STEPS_OF_TWO] = [10, 6];
/** A range that begins at 0 goes on from this share of its end. */
const FROM_ZERO = 1_000;
/** More points would take hours. */
const MOST_POINTS = 400;

type Range = { readonly from: number; readonly to: number } | { readonly values: readonly number[] };

const rangeOf = ({ read, takes }: Reader<number>): Reader<Range> => ({
  read: (text) => {
    const ends = text.split('..').map(read);
    if (ends.length === 2) {
      const [from, to] = ends;
      return from === undefined || to === undefined || from >= to ? undefined : { from, to };
    }
    const values = text.split(',').map(read);
    return values.some((value) => value === undefined) ? undefined : { values: values as number[] };
  },
  takes: `a range or a list, from the least to the most (0s..60s, 10,50,100), of ${takes}`,
});

const READERS = Object.fromEntries(
  SETTING_NAMES.map((name) => [name, rangeOf(SETTINGS[name].kind === 'duration' ? duration : wholeWithin(1, 1_000))]),
) as Readonly<Record<SettingName, Reader<Range>>>;

/** What `maxWait=0s..60s maxSize=10,100` varies: one setting, or two. */
export const axesFrom = (text: string): Parsed<Axes> => {
  const described = parseNameValues(text, READERS);
  if (!described.ok) return described;
  const ranges = Object.entries(described.value) as [SettingName, Range][];
  const fault = (reason: string): Parsed<Axes> => ({ ok: false, problems: [{ path: '', reason }] });
  if (ranges.length === 0 || ranges.length > 2)
    return fault(`name one setting or two, such as maxWait=0s..60s maxSize=10..500: ${SETTING_NAMES.join(', ')}`);
  if (described.value.maxWait && described.value.window) return fault('maxWait and window replace each other');
  const steps = ranges.length === 1 ? STEPS_OF_ONE : STEPS_OF_TWO;
  const axes = ranges.map(([name, range]): [SettingName, readonly number[]] => [
    name,
    'values' in range ? [...new Set(range.values)] : stepsOf(range.from, range.to, steps),
  ]);
  const points = axes.reduce((product, [, values]) => product * values.length, 1);
  if (points > MOST_POINTS) return fault(`these are ${points} simulations: at most ${MOST_POINTS} are made`);
  return { ok: true, value: Object.fromEntries(axes) };
};

/** Whole numbers from one to another, each by the same factor more, to two digits. */
export const stepsOf = (from: number, to: number, count: number): readonly number[] => {
  const least = from === 0 ? to / FROM_ZERO : from;
  const many = from === 0 ? count - 1 : count;
  const between = Array.from({ length: many }, (_, n) => least * (to / least) ** (n / (many - 1)));
  const rounded = between.map((value) => Math.max(1, Math.round(Number(value.toPrecision(2)))));
  return [...new Set([from, ...rounded.slice(from === 0 ? 0 : 1, -1), to])].filter((each) => each <= to);
};

export const policiesOf = (axes: Axes): readonly Policy[] =>
  (Object.entries(axes) as [SettingName, readonly number[]][]).reduce<readonly Policy[]>(
    (policies, [name, values]) => policies.flatMap((policy) => values.map((value) => ({ ...policy, [name]: value }))),
    [{}],
  );

/** A policy that was simulated. */
export interface Tried extends Figures {
  readonly policy: Policy;
}

export interface Varied {
  readonly tried: readonly Tried[];
  /** What the configuration refuses, and why. */
  readonly refused: readonly { readonly policy: Policy; readonly reason: string }[];
  /** Those that no other one beats in waiting (p99), calls and cost. */
  readonly front: readonly Tried[];
  readonly knee: Tried | undefined;
}

/** Which operation's policy is changed, and the configuration as it is written. */
export interface Subject {
  readonly input: unknown;
  readonly operation: string;
}

/** Those of the policies that a configuration may have, and what is wrong with the others. */
const checked = (
  { input, operation }: Subject,
  policies: readonly Policy[],
): { readonly fit: readonly { policy: Policy; config: Config }[]; readonly refused: Varied['refused'] } => {
  const all = policies.map((policy) => ({ policy, parsed: configWith(input, operation, policy) }));
  return {
    fit: all.flatMap(({ policy, parsed }) => (parsed.ok ? [{ policy, config: parsed.value }] : [])),
    refused: all.flatMap(({ policy, parsed }) =>
      parsed.ok ? [] : [{ policy, reason: describeInBrief(parsed.problems) }],
    ),
  };
};

/** Simulates policies. @param options.most tasks of the trace @param options.onDone is told whenever one is done */
export const tryPolicies = async (
  simulateAll: SimulateAll,
  subject: Subject,
  setting: Setting,
  policies: readonly Policy[],
  { most, onDone }: { readonly most?: number | undefined; readonly onDone?: (() => void) | undefined } = {},
): Promise<Pick<Varied, 'tried' | 'refused'>> => {
  const { fit, refused } = checked(subject, policies);
  const jobs = fit.map(({ config }) => ({ ...setting, config, ...(most === undefined ? {} : { most }) }));
  const outcomes = await simulateAll(jobs, onDone);
  const tried = fit.map(({ policy }, index) => ({
    policy,
    ...figuresOf(outcomes[index] as Outcome, subject.operation, setting.surroundings),
  }));
  return { tried, refused };
};

/** As a trade-off is drawn. */
const pointOf = (tried: Tried): Point & { readonly tried: Tried } => ({
  wait: tried.wait.p99,
  calls: tried.calls,
  cost: tried.perDay,
  tried,
});

/** The trade-off between waiting, calls and cost over a grid. */
export const vary = async (subject: Subject, setting: Setting, axes: Axes, onDone?: () => void): Promise<Varied> => {
  const { tried, refused } = await withThreads((simulateAll) =>
    tryPolicies(simulateAll, subject, setting, policiesOf(axes), { onDone }),
  );
  const points = tried.map(pointOf);
  return { tried, refused, front: frontOf(points).map((point) => point.tried), knee: kneeOf(points)?.tried };
};
