/**
 * `npm run bench:reliability -- --runs N --seed S` runs Groupage and the published algorithm in the same schedules of
 * faults, and prints counts of their failures.
 *
 * `--size N` gives every batch that size, instead of the schedule's own (1 to 10). `--json` prints the counts.
 */
import { parseArgs } from 'node:util';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { CONTENDERS, compete, withSize } from './baselines/contenders.ts';
import type { Outcome } from './baselines/outcome.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    size: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const [runs, seed] = [wholeNumber('runs', values.runs, 1), wholeNumber('seed', values.seed, 0)];
const change = values.size === undefined ? undefined : withSize(wholeNumber('size', values.size, 1));

const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(part === 0 ? 0 : 1)}%`;
const each = (amount: number, all: number): string => (amount / all).toFixed(1);

/** The columns: the name of each column, and how its figure is computed. */
const COLUMNS: readonly (readonly [string, (outcome: Outcome) => string | number])[] = [
  ['schedules with stranded tasks', (o) => share(o.schedulesStranded, o.schedules)],
  ['stranded tasks', (o) => o.stranded],
  ['dead letters', (o) => o.deadLettered],
  ['called for two batches', (o) => o.calledInTwoBatches],
  ['10 s late', (o) => share(o.late, o.tasks)],
  ['10 min late', (o) => share(o.veryLate, o.tasks)],
  ['write units per task', (o) => each(o.writeUnits, o.tasks)],
  ['read units per task', (o) => each(o.readUnits, o.tasks)],
];

const print = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`);

const results: { readonly name: string; readonly outcome: Outcome }[] = [];
for (const contender of CONTENDERS) {
  const outcome = await compete(contender, seed, runs, change);
  results.push({ name: contender.name, outcome });
  if (values.json) continue;
  if (results.length === 1) {
    console.log(
      `${runs} schedules from seed ${seed}, ${outcome.tasks} tasks${values.size ? `, batches of ${values.size}` : ''}\n`,
    );
    print(['', ...COLUMNS.map(([name]) => name)]);
    print(['---', ...COLUMNS.map(() => '--:')]);
  }
  print([contender.name, ...COLUMNS.map(([, cell]) => cell(outcome))]);
}
if (values.json) console.log(JSON.stringify({ firstSeed: seed, runs, results }, null, 2));
