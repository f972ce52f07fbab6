/**
 * `npm run simulate:faults -- [--size harsh | large | long] [--runs N | --lives N] [--seed S]`: looks for a schedule that breaks a
 * promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it; with `--shrink`, the
 * smallest one that breaks the same promise.
 */
import { parseArgs } from 'node:util';
import { brief, readable } from '../../src/virtual/trace.ts';
import { runInParallel } from './parallel.ts';
import type { Summary } from './schedules.ts';
import { shrink } from './shrink.ts';
import { SIZES, sizeOf } from './sizes.ts';
import { whole } from './whole.ts';
import { runSchedule, type Scenario } from './world.ts';

const given = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : whole(name, text);

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    lives: { type: 'string' },
    seed: { type: 'string' },
    size: { type: 'string', default: 'usual' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
  },
});
const size = sizeOf(values.size);
const { scenarioOf } = SIZES[size];
const seed = given('seed', values.seed) ?? Date.now() % 1_000_000_000;

const replay = async (scenario: Scenario): Promise<void> => {
  const { trace, violation } = await runSchedule(scenario, true);
  console.log(readable(trace));
  console.log(violation ? `VIOLATION ${violation.promise}: ${brief(violation.subject)}` : 'no violation');
};

const replayCommand = (seed: number): string =>
  `npm run simulate:faults -- ${size === 'usual' ? '' : `--size ${size} `}--trace --seed ${seed}`;

const shown = new Set<number>();

/** Every broken promise with the command that shows it, as soon as it is found: a run may take an hour. */
const showNew = ({ violations }: Summary): void => {
  for (const { seed, message } of violations) {
    if (!shown.has(seed)) console.log(`seed ${seed}: ${message.slice(0, 1_000)}\n  replay: ${replayCommand(seed)}`);
    shown.add(seed);
  }
};

/** The first schedule that breaks a promise, as small as it gets. */
const showSmallest = async ({ violations }: Summary): Promise<void> => {
  const first = violations.toSorted((a, b) => a.seed - b.seed)[0];
  // A large or long one takes too long to be run so often.
  if (!first || size === 'large' || size === 'long') return;
  console.log(`\nThe smallest schedule like that of seed ${first.seed} (${replayCommand(first.seed)} --shrink):`);
  await replay(await shrink(scenarioOf(first.seed)));
};

const look = async (): Promise<void> => {
  const lives = given('lives', values.lives);
  const runs = given('runs', values.runs) ?? (lives === undefined ? 1_000 : undefined);
  const from = performance.now();
  let told = from;
  const summary = await runInParallel(
    seed,
    { ...(runs === undefined ? {} : { runs }), ...(lives === undefined ? {} : { lives }) },
    (sofar) => {
      showNew(sofar);
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      console.error(`${sofar.runs} schedules, ${sofar.lives} lives, ${sofar.violations.length} violations …`);
    },
    size,
  );
  showNew(summary);
  await showSmallest(summary);
  const schedulesPerSecond = Math.round((1_000 * summary.runs) / (performance.now() - from));
  const { violations, ...figures } = summary;
  console.log(
    JSON.stringify({ firstSeed: seed, ...figures, violations: violations.length, schedulesPerSecond }, null, 2),
  );
  process.exitCode = violations.length > 0 ? 1 : 0;
};

if (values.trace) await replay(values.shrink ? await shrink(scenarioOf(seed)) : scenarioOf(seed));
else await look();
