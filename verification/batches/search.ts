/**
 * What the commands that look for a schedule that breaks a promise have in common: `-- [--runs N] [--seed S]`, or `--
 * --seed S --trace` to replay one.
 */
import { parseArgs } from 'node:util';
import { brief, readable } from '../../src/virtual/trace.ts';
import type { Violation } from '../../src/virtual/violation.ts';
import { inParallel, type Kind } from './parallel.ts';
import { whole } from './whole.ts';

/** What schedules of some kind came to, summed. */
interface Found {
  readonly runs: number;
  readonly violations: readonly { readonly seed: number; readonly message: string }[];
}

/** What happened in one schedule, and which promise was broken, if one was. */
interface Replayed {
  readonly trace: readonly string[];
  readonly violation?: Pick<Violation, 'promise' | 'subject'> | string | undefined;
}

export interface Search<Some extends Found> {
  /** The script in package.json. */
  readonly script: string;
  readonly schedules: Kind<Some>;
  /** Runs one schedule, and keeps what happens. */
  readonly replay: (seed: number) => Promise<Replayed>;
  /** What to say of those that were run, beside their number. */
  readonly count: (sofar: Some) => string;
}

/** Sets the process's exit code to 1 where a promise was broken. */
export const search = async <Some extends Found>({ script, schedules, replay, count }: Search<Some>): Promise<void> => {
  const { values } = parseArgs({
    options: { runs: { type: 'string' }, seed: { type: 'string' }, trace: { type: 'boolean', default: false } },
  });
  const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : whole('seed', values.seed);
  if (values.trace) {
    const { trace, violation } = await replay(seed);
    console.log(readable(trace));
    console.log(violation === undefined ? 'no violation' : `VIOLATION ${inWords(violation)}`);
    return;
  }
  const from = performance.now();
  let told = from;
  const summary = await inParallel(schedules, seed, { runs: whole('runs', values.runs ?? '1000') }, (sofar) => {
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    console.error(`${sofar.runs} schedules, ${count(sofar)}, ${sofar.violations.length} violations …`);
  });
  const { violations, ...figures } = summary;
  for (const broken of violations)
    console.log(
      `seed ${broken.seed}: ${broken.message.slice(0, 1_000)}\n  replay: npm run ${script} -- --trace --seed ${broken.seed}`,
    );
  const schedulesPerSecond = Math.round((1_000 * summary.runs) / (performance.now() - from));
  console.log(
    JSON.stringify({ firstSeed: seed, ...figures, violations: violations.length, schedulesPerSecond }, null, 2),
  );
  process.exitCode = violations.length > 0 ? 1 : 0;
};

const inWords = (violation: NonNullable<Replayed['violation']>): string =>
  typeof violation === 'string' ? violation : `${violation.promise}: ${brief(violation.subject)}`;
