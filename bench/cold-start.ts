/**
 * `npm run bench:cold-start` prints the bundle size of each Lambda function, and the time that the function takes to
 * start in a new process.
 *
 * - `--runs 20`: the number of starts of each function.
 * - `--write`: updates docs/evidence/cold-starts.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tableOf, withTable } from './cold-start/report.ts';
import { makeBundles, startAll } from './cold-start/starts.ts';

const PAGE = join(import.meta.dirname, '../docs/evidence/cold-starts.md');

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20' }, write: { type: 'boolean', default: false } },
});
const runs = Number(values.runs);
if (!Number.isSafeInteger(runs) || runs < 1) {
  console.error(`--runs takes a whole number from 1, not ${values.runs}`);
  process.exit(2);
}

const { folder, sizes } = makeBundles();
const table = tableOf(sizes, startAll(folder, runs));
console.log(table);
if (values.write) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), table));
