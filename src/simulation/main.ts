/**
 * `npm run simulate:faults -- --runs N --seed S`: looks for a schedule that breaks a promise.
 * `… -- --seed S --trace` replays one schedule and prints everything that happened in it.
 */
import { parseArgs } from 'node:util';
import { scenarioOf } from './scenario.ts';
import { runSchedules } from './schedules.ts';
import { runSchedule } from './world.ts';

const whole = (name: string, text: string): number => {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
  process.exit(2);
};

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : whole('seed', values.seed);

if (values.trace) {
  const report = await runSchedule(scenarioOf(seed), true);
  console.log(report.trace.join('\n'));
  console.log(report.violation ? `VIOLATION ${report.violation.message}` : 'no violation');
} else {
  const runs = whole('runs', values.runs);
  const from = performance.now();
  const summary = await runSchedules(seed, runs, undefined, (report, at) => {
    if (report.violation)
      console.log(`seed ${at}: ${report.violation.message}\n  replay: npm run simulate:faults -- --trace --seed ${at}`);
    return true;
  });
  const { violations, ...figures } = summary;
  const seconds = (performance.now() - from) / 1_000;
  console.log(
    JSON.stringify(
      { firstSeed: seed, ...figures, violations: violations.length, schedulesPerSecond: Math.round(runs / seconds) },
      null,
      2,
    ),
  );
  process.exitCode = violations.length > 0 ? 1 : 0;
}
