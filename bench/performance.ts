/**
 * `npm run bench` sends the same tasks to a batch API in five ways, one after another, on the same engines and with the
 * same downstream. It takes about eight minutes on two idle cores. docs/evidence/performance.md defines the measures.
 *
 * `--loads` and `--variants` select some by name, `--scale 0.1` sends a tenth of the tasks, `--json` prints the
 * measures. `--write` updates the figures and pictures of docs/evidence/performance.md. The script exits with 1 if
 * Groupage lost a task or sent a task twice.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadsAt } from './performance/loads.ts';
import { altOfBars, barsPicture } from './performance/pictures/bars.ts';
import { altOfLines, linesPicture } from './performance/pictures/lines.ts';
import { type Compared, pageSectionOf, sectionOf, variantsList, withParts } from './performance/report.ts';
import { type Run, runLoad } from './performance/run.ts';
import { startWorld } from './performance/site.ts';
import { VARIANTS } from './performance/variants.ts';

const { values } = parseArgs({
  options: {
    loads: { type: 'string' },
    variants: { type: 'string' },
    scale: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const stop = (reason: string): never => {
  console.error(reason);
  process.exit(2);
};
const chosen = <T extends { readonly name: string }>(
  option: string,
  all: readonly T[],
  names?: string,
): readonly T[] => {
  const known = all.map(({ name }) => name);
  const odd = names?.split(',').filter((name) => !known.includes(name)) ?? [];
  if (odd.length > 0) stop(`--${option} accepts ${known.join(', ')}, not ${odd.join(', ')}`);
  return all.filter(({ name }) => names === undefined || names.split(',').includes(name));
};
const scale = Number(values.scale);
if (!(scale > 0)) stop(`--scale must be a number above 0, not ${JSON.stringify(values.scale)}`);
const loads = chosen('loads', loadsAt(scale), values.loads);
const variants = chosen('variants', VARIANTS, values.variants);
const isWhole = scale === 1 && loads.length === loadsAt(1).length && variants.length === VARIANTS.length;
if (values.write && !isWhole) stop('--write needs all loads and variants at full scale');

// Other work on the machine prolongs waits and makes functions more expensive, so the page states the machine's load.
const cores = availableParallelism();
const before = loadavg()[0] ?? 0;
const machine = `${cores} cores; its load from other work at the start was ${before.toFixed(1)}`;
if (before > 0.5) console.error(`the machine has ${machine}`);
const world = await startWorld();
const compared: Compared[] = [];
for (const load of loads) {
  const runs: Run[] = [];
  for (const variant of variants) {
    const from = performance.now();
    const run = await runLoad(world, load, variant);
    runs.push(run);
    console.error(`${load.name}, ${variant.name}: ${((performance.now() - from) / 1_000).toFixed(0)} s`);
    for (const error of run.errors.slice(0, 5)) console.error(`  ${error}`);
  }
  compared.push({ load, runs });
  if (!values.json) console.log(`${sectionOf({ load, runs })}\n`);
}
await world.stop();
if (values.json)
  console.log(
    JSON.stringify(
      compared.flatMap(({ runs }) => runs.map(plainly)),
      null,
      2,
    ),
  );

if (values.write) {
  const docs = join(import.meta.dirname, '..', 'docs');
  const page = join(docs, 'evidence', 'performance.md');
  writeFileSync(join(docs, 'images', 'performance.svg'), barsPicture(compared));
  writeFileSync(join(docs, 'images', 'performance-in-all.svg'), linesPicture(compared));
  writeFileSync(
    page,
    withParts(readFileSync(page, 'utf8'), {
      machine: `Machine: ${machine}.`,
      variants: variantsList(),
      bars: `![${altOfBars(compared)}](../images/performance.svg)`,
      lines: `![${altOfLines(compared)}](../images/performance-in-all.svg)`,
      figures: compared.map(pageSectionOf).join('\n\n'),
    }),
  );
}

const broken = compared
  .flatMap(({ runs }) => runs)
  .filter(({ variant, measures }) => variant === VARIANTS[0] && measures.lost + measures.twice > 0);
for (const { load, measures } of broken)
  console.error(`BROKEN: ${load.name}: Groupage lost ${measures.lost} tasks and sent ${measures.twice} twice`);
process.exitCode = broken.length > 0 ? 1 : 0;

function plainly({ load, variant, measures }: Run) {
  return { load: load.name, variant: variant.name, ...measures };
}
