/** Simulates a grid of policies with one trace, to show the trade-off between waits, calls and cost. */

import type { Config } from '../../src/domain/config/resolved.ts';
import { describeInBrief, type Parsed } from '../../src/util/problems.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { Setting } from './job.ts';
import { frontOf, kneeOf, type Point } from './knee.ts';
import { type SimulateAll, withThreads } from './many.ts';
import { duration, parseNameValues, type Reader, wholeWithin } from './name-values.ts';
import type { Outcome } from './outcome.ts';
import { configWith, type Policy, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts';

/** The values of each setting. */
export type Axes = Readonly<Partial<Record<SettingName, readonly number[]>>>;

/** Number of values of a range, if one setting is varied, and if two settings are varied. */
const [STEPS_OF_ONE, STEPS_OF_TWO] = [10, 6];
/** If a range starts at 0, its second value is its end divided by this number. */
const FROM_ZERO = 1_000;
/** Maximum number of policies: more would take hours. */
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
  takes: `a range such as 0s..60s or a list such as 10,50,100, in ascending order, of ${takes}`,
});

const READERS = Object.fromEntries(
  SETTING_NAMES.map((name) => [name, rangeOf(SETTINGS[name].kind === 'duration' ? duration : wholeWithin(1, 1_000))]),
) as Readonly<Record<SettingName, Reader<Range>>>;

/** Parses `--vary`, one setting or two: `maxWait=0s..60s maxSize=10,100`. */
export const axesFrom = (text: string): Parsed<Axes> => {
  const described = parseNameValues(text, READERS);
  if (!described.ok) return described;
  const ranges = Object.entries(described.value) as [SettingName, Range][];
  const fault = (reason: string): Parsed<Axes> => ({ ok: false, problems: [{ path: '', reason }] });
  if (ranges.length === 0 || ranges.length > 2)
    return fault(
      `give one or two settings, such as maxWait=0s..60s maxSize=10..500. Valid settings: ${SETTING_NAMES.join(', ')}`,
    );
  if (described.value.maxWait && described.value.window) return fault('maxWait and window exclude each other');
  const steps = ranges.length === 1 ? STEPS_OF_ONE : STEPS_OF_TWO;
  const axes = ranges.map(([name, range]): [SettingName, readonly number[]] => [
    name,
    'values' in range ? [...new Set(range.values)] : stepsOf(range.from, range.to, steps),
  ]);
  const points = axes.reduce((product, [, values]) => product * values.length, 1);
  if (points > MOST_POINTS) return fault(`these are ${points} simulations, but at most ${MOST_POINTS} are allowed`);
  return { ok: true, value: Object.fromEntries(axes) };
};

/** Whole numbers from `from` to `to` in geometric steps, rounded to two digits. */
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

/** A simulated policy. */
export interface Tried extends Figures {
  readonly policy: Policy;
}

export interface Varied {
  readonly tried: readonly Tried[];
  /** Policies that would make the configuration invalid, with the reasons. */
  readonly refused: readonly { readonly policy: Policy; readonly reason: string }[];
  /** The Pareto front in wait (p99), calls and cost. */
  readonly front: readonly Tried[];
  readonly knee: Tried | undefined;
}

/** The operation whose policy is changed, and the configuration before parsing. */
export interface Subject {
  readonly input: unknown;
  readonly operation: string;
}

/** Divides policies into valid ones and invalid ones, with their problems. */
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

/** Simulates policies. @param options.most maximum number of tasks @param options.onDone called after each simulation */
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

/** The point of a policy in the trade-off. */
const pointOf = (tried: Tried): Point & { readonly tried: Tried } => ({
  wait: tried.wait.p99,
  calls: tried.calls,
  cost: tried.perDay,
  tried,
});

/** Simulates a grid of policies, and finds its Pareto front and knee. */
export const vary = async (subject: Subject, setting: Setting, axes: Axes, onDone?: () => void): Promise<Varied> => {
  const { tried, refused } = await withThreads((simulateAll) =>
    tryPolicies(simulateAll, subject, setting, policiesOf(axes), { onDone }),
  );
  const points = tried.map(pointOf);
  return { tried, refused, front: frontOf(points).map((point) => point.tried), knee: kneeOf(points)?.tried };
};
