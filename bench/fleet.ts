/**
 * `npm run bench:fleet` runs Groupage, the published algorithm that Groupage replaces, and locks with renewals in the
 * same scenarios of shared partitions under the virtual clock. It takes ten minutes, prints a row for each run when
 * the run ends, and exits with 1 if Groupage breaks a promise (`bench/fleet/promises.ts`).
 *
 * `--nodes 2,4,8,16` sets the numbers of nodes, `--seed` the seed. `--json` prints the runs without the work on each
 * partition. `--quick` runs a small version. `--docs` writes docs/evidence/fleets.md, docs/images/fleet.svg and the
 * sums in docs/explanation/fleets.md.
 */
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { CONTENDERS, OURS, SWEPT } from './fleet/contenders.ts';
import { altOf, pictureOf } from './fleet/picture.ts';
import { brokenBy } from './fleet/promises.ts';
import { documentOf, movesTable, TOLD_NODES, tableOf, withFigures } from './fleet/report.ts';
import { type Case, type Run, runAll } from './fleet/runs.ts';
import { HALF_AN_HOUR, SCENARIO_NAMES, type ScenarioName, SOME_MINUTES } from './fleet/scenarios.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});
const { quick, docs, json } = values;
const seed = wholeNumber('seed', values.seed, 0);
const counts = (values.nodes ?? (quick ? '4' : '2,4,8,16')).split(',').map((count) => wholeNumber('nodes', count, 1));
if (docs && (quick || !counts.includes(TOLD_NODES))) {
  console.error(`--docs needs ${TOLD_NODES} among --nodes and cannot be combined with --quick`);
  process.exit(2);
}
const QUICK: readonly ScenarioName[] = ['steady', 'one joins', 'one crashes', 'one slow ×100'];
const scenarios = quick ? QUICK : SCENARIO_NAMES;
const timing = quick ? SOME_MINUTES : HALF_AN_HOUR;

const cases = scenarios.flatMap((scenario) =>
  counts.flatMap((nodes) => CONTENDERS.map((contender): Case => ({ scenario, nodes, contender, seed, timing }))),
);
/** The scenarios in which the published algorithm runs with other choices. */
const SWEEP: readonly ScenarioName[] = [
  ...(['steady', 'one joins', 'one crashes', 'one slow ×100', 'all slow ×10', '50% of notifications lost'] as const),
];
const sweep = (quick ? [] : SWEEP).flatMap((scenario) =>
  SWEPT.map((contender): Case => ({ scenario, nodes: TOLD_NODES, contender, seed, timing })),
);
const tell = (run: Run): void => {
  if (!json) console.log(tableOf([run]).split('\n').at(-1));
};
if (!json) console.log(tableOf([]));
const done = await runAll([...cases, ...sweep], tell);
const [runs, swept] = [done.slice(0, cases.length), done.slice(cases.length)];
if (!json) console.log(`\nPartitions moved, ${CONTENDERS.join(' / ')} (the optimum):\n\n${movesTable(runs)}`);
if (json) {
  const withoutWork = runs.map(({ outcome: { worked: _, ...outcome }, ...run }) => ({ ...run, outcome }));
  console.log(JSON.stringify(withoutWork, null, 2));
}

if (docs) {
  const [told, compared] = [runs.filter(isTelling), runs.filter(({ nodes }) => nodes === TOLD_NODES)];
  assert.equal(told.length, 2);
  const folder = join(import.meta.dirname, '..', 'docs');
  writeFileSync(
    join(folder, 'evidence', 'fleets.md'),
    documentOf(runs, swept, altOf(told), `--seed ${seed} --nodes ${counts}`),
  );
  writeFileSync(join(folder, 'images', 'fleet.svg'), pictureOf(told, compared));
  const guide = join(folder, 'explanation', 'fleets.md');
  writeFileSync(guide, withFigures(readFileSync(guide, 'utf8'), altOf(told)));
}

/** Whether the run is shown in the picture. */
function isTelling({ scenario, nodes, contender }: Run): boolean {
  return scenario === 'one slow ×1000' && nodes === TOLD_NODES && (contender === OURS || contender === CONTENDERS[1]);
}

const broken = runs.flatMap(brokenBy);
for (const promise of broken) console.error(`BROKEN: ${promise}`);
process.exitCode = broken.length > 0 ? 1 : 0;
