/** Schedules of one kind: what a kind is made of, and many schedules one after the other, with what they came to. */
import { brief } from '../../src/virtual/trace.ts';
import type { Violation } from '../../src/virtual/violation.ts';

/** Numbers that are summed over schedules, by name. */
export type Figures = { readonly [name: string]: number | Figures };

/** A promise that was broken, to whom; or both in words. */
type Broken = Violation | string;

interface Size<Scenario> {
  /** A random scenario; the same seed gives the same one. */
  readonly scenarioOf: (seed: number) => Scenario;
  /** How many a thread takes at once, of those that take long. @default - fifty */
  readonly chunk?: number;
}

/** What runs schedules of one kind, judges them, and words what is said of them. */
export interface Kind<Scenario, Report, Sums extends Figures, Sizes extends string = 'usual'> {
  /** The script in package.json. */
  readonly script: string;
  /** The file that is the command, and the worker of its threads: it calls `main`. */
  readonly main: URL;
  /** What `--size` names, where there are several. */
  readonly sizes: Readonly<Record<Sizes | 'usual', Size<Scenario>>>;
  /** The same scenario gives the same report, to the letter. @param traced whether it keeps a line per event */
  readonly run: (scenario: Scenario, traced: boolean) => Promise<Report & { readonly trace: readonly string[] }>;
  readonly brokenIn: (report: Report) => readonly Broken[];
  readonly figuresOf: (report: Report, scenario: Scenario) => Sums;
  /** The figures of no schedule. */
  readonly none: Sums;
  /** What to say of those that were run, beside their number. */
  readonly inWords: (sums: Sums) => string;
  /** Lives of tasks, where a search may go on for so many: `--lives`. */
  readonly livesIn?: (sums: Sums) => number;
  /** The smallest schedule that breaks the same promise, for kinds with `--shrink`. */
  readonly shrink?: (scenario: Scenario) => Promise<Scenario>;
}

/** What schedules came to. */
export type Summary<Sums extends Figures> = Sums & {
  readonly runs: number;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
};

export const noRuns = <Sums extends Figures>({ none }: { readonly none: Sums }): Summary<Sums> => ({
  runs: 0,
  ...none,
  violations: [],
});

export const plus = <Sums extends Figures>(a: Summary<Sums>, b: Summary<Sums>): Summary<Sums> => {
  const { violations: before, ...sums } = a;
  const { violations, ...more } = b;
  return { ...sum(sums, more), violations: [...before, ...violations] } as unknown as Summary<Sums>;
};

const sum = (a: Figures, b: Figures): Figures =>
  Object.fromEntries(
    Object.entries(a).map(([name, value]) => {
      const more = b[name] as typeof value;
      return [name, typeof value === 'number' ? value + (more as number) : sum(value, more as Figures)];
    }),
  );

/**
 * Runs `runs` schedules with consecutive seeds.
 *
 * @param change alters each scenario, e.g. to put a known bug back.
 * @param onRun is told of every run; answer false to stop.
 */
export const runSchedules = async <Scenario, Report, Sums extends Figures, Sizes extends string>(
  kind: Kind<Scenario, Report, Sums, Sizes>,
  firstSeed: number,
  runs: number,
  change: (scenario: Scenario) => Scenario = (scenario) => scenario,
  onRun: (report: Report) => boolean = () => true,
  size: Sizes | 'usual' = 'usual',
): Promise<Summary<Sums>> => {
  let summary = noRuns(kind);
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const scenario = change(kind.sizes[size].scenarioOf(seed));
    const report = await kind.run(scenario, false);
    summary = plus(summary, {
      runs: 1,
      ...kind.figuresOf(report, scenario),
      violations: kind.brokenIn(report).map((broken) => ({ seed, message: messageOf(broken) })),
    });
    if (!onRun(report)) break;
  }
  return summary;
};

const messageOf = (broken: Broken): string => (typeof broken === 'string' ? broken : broken.message);

/** The same for a trace: short enough for a line. */
export const inALine = (broken: Broken): string =>
  typeof broken === 'string' ? broken : `${broken.promise}: ${brief(broken.subject)}`;

/** The first promise that a schedule found broken, if it keeps only that. */
export const firstBroken = ({ violation }: { readonly violation?: Violation }): readonly Broken[] =>
  violation ? [violation] : [];
