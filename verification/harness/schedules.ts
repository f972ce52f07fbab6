/** A kind of schedules, and a function that runs many schedules of a kind and summarizes the results. */
import { brief } from '../../src/virtual/trace.ts';
import type { Violation } from '../../src/virtual/violation.ts';

/** Named numbers, which are summed over schedules. */
export type Figures = { readonly [name: string]: number | Figures };

/** A broken promise: the violation with its subject, or only a text. */
type Broken = Violation | string;

interface Size<Scenario> {
  /** A random scenario. The same seed gives the same scenario. */
  readonly scenarioOf: (seed: number) => Scenario;
  /** The number of schedules that a thread takes at once. @default - fifty */
  readonly chunk?: number;
}

/** Runs schedules of one kind, judges them, and describes the results. */
export interface Kind<Scenario, Report, Sums extends Figures, Sizes extends string = 'usual'> {
  /** The script in package.json. */
  readonly script: string;
  /** The file that is both the command and the code of the command's worker threads. It calls `main`. */
  readonly main: URL;
  /** The names that `--size` accepts. */
  readonly sizes: Readonly<Record<Sizes | 'usual', Size<Scenario>>>;
  /**
   * Runs a scenario. The same scenario gives exactly the same report.
   * @param traced whether to record a line for each event
   */
  readonly run: (scenario: Scenario, traced: boolean) => Promise<Report & { readonly trace: readonly string[] }>;
  readonly brokenIn: (report: Report) => readonly Broken[];
  readonly figuresOf: (report: Report, scenario: Scenario) => Sums;
  /** The figures if there are no schedules. */
  readonly none: Sums;
  /** Describes the figures, for the progress line. */
  readonly inWords: (sums: Sums) => string;
  /** The number of runs of tasks, for kinds with `--lives`. */
  readonly livesIn?: (sums: Sums) => number;
  /** Finds the smallest schedule that breaks the same promise, for kinds with `--shrink`. */
  readonly shrink?: (scenario: Scenario) => Promise<Scenario>;
}

/** The results of many schedules. */
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
 * @param change alters each scenario, e.g. to put a known bug back
 * @param onRun called after each schedule; returns false to stop
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

/** A broken promise as one short line, for a trace. */
export const inALine = (broken: Broken): string =>
  typeof broken === 'string' ? broken : `${broken.promise}: ${brief(broken.subject)}`;

/** The first broken promise of a schedule, for kinds that keep only the first. */
export const firstBroken = ({ violation }: { readonly violation?: Violation }): readonly Broken[] =>
  violation ? [violation] : [];
