/**
 * `npm run simulate:lists -- [--runs N] [--seed S]`: looks for a schedule of lists that breaks a promise.
 * `… -- --seed S --trace`: replays one schedule and prints everything that happened in it.
 */
import { parseArgs } from 'node:util';
import { inParallel } from '../parallel.ts';
import { brief, readable } from '../trace.ts';
import { whole } from '../whole.ts';
import { listScenarioOf } from './scenario.ts';
import { NO_LISTS, plusLists } from './schedules.ts';
import { runLists } from './world.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string' }, seed: { type: 'string' }, trace: { type: 'boolean', default: false } },
});
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : whole('seed', values.seed);

const replay = async (): Promise<void> => {
  const { trace, violation } = await runLists(listScenarioOf(seed), true);
  console.log(readable(trace));
  console.log(violation ? `VIOLATION ${violation.promise}: ${brief(violation.subject)}` : 'no violation');
};

const look = async (): Promise<void> => {
  const runs = whole('runs', values.runs ?? '1000');
  const from = performance.now();
  let told = from;
  const thread = { worker: new URL('./worker.ts', import.meta.url), none: NO_LISTS, plus: plusLists };
  const summary = await inParallel(thread, seed, { runs }, (sofar) => {
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    console.error(`${sofar.runs} schedules, ${sofar.jobs} jobs, ${sofar.violations.length} violations …`);
  });
  const { violations, ...figures } = summary;
  for (const broken of violations)
    console.log(
      `seed ${broken.seed}: ${broken.message.slice(0, 1_000)}\n  replay: npm run simulate:lists -- --trace --seed ${broken.seed}`,
    );
  const schedulesPerSecond = Math.round((1_000 * summary.runs) / (performance.now() - from));
  console.log(
    JSON.stringify({ firstSeed: seed, ...figures, violations: violations.length, schedulesPerSecond }, null, 2),
  );
  process.exitCode = violations.length > 0 ? 1 : 0;
};

if (values.trace) await replay();
else await look();
