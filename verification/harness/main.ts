/**
 * The command line of each kind of schedules. `-- [--runs N] [--seed S]` searches for a schedule that breaks a promise.
 * `-- --seed S --trace` replays one schedule. Some kinds also accept `--size`, `--lives` instead of `--runs`, and
 * `--trace --shrink`, which replays the smallest schedule that breaks the same promise.
 */
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { readable } from '../../src/virtual/trace.ts';
import { type Enough, runChunks, runInParallel } from './parallel.ts';
import { type Figures, inALine, type Kind, type Summary } from './schedules.ts';
import { wholeNumber } from './whole-number.ts';

const [TEXT, FLAG] = [{ type: 'string' }, { type: 'boolean', default: false }] as const;
const OPTIONS = { runs: TEXT, seed: TEXT, trace: FLAG, lives: TEXT, size: TEXT, shrink: FLAG };

/** The options that a kind accepts. All other options are refused. */
const optionsOf = ({
  livesIn,
  sizes,
  shrink: isShrunk,
}: {
  readonly livesIn?: unknown;
  readonly sizes: object;
  readonly shrink?: unknown;
}) => {
  const { lives, size, shrink, ...all } = OPTIONS;
  const more = {
    ...(livesIn ? { lives } : {}),
    ...(Object.keys(sizes).length > 1 ? { size } : {}),
    ...(isShrunk ? { shrink } : {}),
  };
  return { ...all, ...more } as typeof OPTIONS;
};

/** Sets the process's exit code to 1 if a promise was broken. */
export const main = async <Scenario, Report, Sums extends Figures, Sizes extends string>(
  kind: Kind<Scenario, Report, Sums, Sizes>,
): Promise<void> => {
  if (!isMainThread) return runChunks(kind);
  const { values } = parseArgs({ options: optionsOf(kind) });
  const size = sizeOf(kind, values.size ?? 'usual');
  const seed = given('seed', values.seed) ?? Date.now() % 1_000_000_000;
  if (values.trace) {
    const scenario = kind.sizes[size].scenarioOf(seed);
    await replay(kind, values.shrink && kind.shrink ? await kind.shrink(scenario) : scenario);
    return;
  }
  const lives = given('lives', values.lives);
  await search(kind, size, seed, {
    runs: given('runs', values.runs) ?? (lives === undefined ? 1_000 : undefined),
    lives,
  });
};

/** @throws RangeError */
export const sizeOf = <Sizes extends string>(
  { sizes }: { readonly sizes: Readonly<Record<Sizes, unknown>> },
  text: string,
): Sizes => {
  if (Object.hasOwn(sizes, text)) return text as Sizes;
  throw new RangeError(`--size takes one of ${Object.keys(sizes).join(', ')}, not ${text}`);
};

const given = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber(name, text);

const replay = async <Scenario, Report, Sums extends Figures, Sizes extends string>(
  { run, brokenIn }: Kind<Scenario, Report, Sums, Sizes>,
  scenario: Scenario,
): Promise<void> => {
  const report = await run(scenario, true);
  const [broken] = brokenIn(report);
  console.log(readable(report.trace));
  console.log(broken === undefined ? 'no violation' : `VIOLATION ${inALine(broken)}`);
};

const search = async <Scenario, Report, Sums extends Figures, Sizes extends string>(
  kind: Kind<Scenario, Report, Sums, Sizes>,
  size: Sizes | 'usual',
  firstSeed: number,
  enough: Enough,
): Promise<void> => {
  const replayOf = (seed: number): string =>
    `npm run ${kind.script} -- ${size === 'usual' ? '' : `--size ${size} `}--trace --seed ${seed}`;
  const from = performance.now();
  let [shown, shownAt] = [0, from];
  /** Prints each broken promise immediately, with the command that replays it, because a search may take an hour. */
  const show = (sofar: Summary<Sums>): void => {
    for (const { seed, message } of sofar.violations.slice(shown))
      console.log(`seed ${seed}: ${message.slice(0, 1_000)}\n  replay: ${replayOf(seed)}`);
    shown = sofar.violations.length;
    if (performance.now() - shownAt < 10_000) return;
    shownAt = performance.now();
    console.error(`${sofar.runs} schedules, ${kind.inWords(sofar)}, ${shown} violations …`);
  };
  const { violations, ...figures } = await runInParallel(kind, firstSeed, enough, show, size);
  const [first] = violations.toSorted((a, b) => a.seed - b.seed);
  const { scenarioOf, chunk } = kind.sizes[size];
  // Schedules that take long are not shrunk, because shrinking runs a schedule thousands of times.
  if (first && kind.shrink && chunk === undefined) {
    console.log(`\nThe smallest schedule like that of seed ${first.seed} (${replayOf(first.seed)} --shrink):`);
    await replay(kind, await kind.shrink(scenarioOf(first.seed)));
  }
  const schedulesPerSecond = Math.round((1_000 * figures.runs) / (performance.now() - from));
  console.log(JSON.stringify({ firstSeed, ...figures, violations: violations.length, schedulesPerSecond }, null, 2));
  process.exitCode = violations.length > 0 ? 1 : 0;
};
