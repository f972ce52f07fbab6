/**
 * `npm run bench:sustained` sends sustained loads and a burst through a local stack, as raw SQS messages one by one. It
 * measures how long tasks wait, and the longest time without a call for a Target with tasks. It takes about 20 minutes
 * and exits with an error if a limit is exceeded. `-- --loads "one Target,burst"` selects loads, `-- --scale 0.3` makes
 * all loads but the burst shorter, `-- --write` puts the table into docs/evidence/performance.md.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeBetween } from './scale/table.ts';
import { loadsAt } from './sustained/loads.ts';
import { failuresOf, reportOf } from './sustained/report.ts';
import { type Ran, run } from './sustained/run.ts';
import { inTheSimulator } from './sustained/simulated.ts';

const { values } = parseArgs({
  options: {
    loads: { type: 'string' },
    scale: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    /** The folder of another checkout of Groupage, for comparison. */
    checkout: { type: 'string', default: join(import.meta.dirname, '..') },
  },
});
const all = loadsAt(Number(values.scale));
const names = values.loads?.split(',') ?? all.map(({ name }) => name);
const unknown = names.filter((name) => !all.some((load) => load.name === name));
if (unknown.length > 0)
  throw new Error(`no load is named ${unknown.join(', ')}; the loads are ${all.map(({ name }) => name).join(', ')}`);

const MANY = 'thousand Targets';

const rans: Ran[] = [];
for (const load of all.filter(({ name }) => names.includes(name))) {
  const ran = await run(load, values.checkout);
  rans.push(ran);
  for (const failure of failuresOf(ran)) {
    console.error(`${load.name}: ${failure}`);
    process.exitCode = 1;
  }
}
const many = rans.find(({ load }) => load.name === MANY);
const report = [reportOf(rans), ...(many ? [await inTheSimulator(many.load)] : [])].join('\n\n');
console.log(report);
if (values.write) writeBetween('sustained', report, 'evidence/performance.md');
