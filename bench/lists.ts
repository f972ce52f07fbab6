/**
 * `npm run bench:lists` measures deferred lists on the embedded engine, with the real steps. It takes about ten
 * minutes. `--parts` selects parts:
 *
 * - `storm`: 100,000 jobs and 64 concurrent claimers. Some writes happen but are answered with an error, and some
 *   claimers die with a lease.
 * - `poison`: the same with jobs that no worker can do, and with 61 workers that hold a claim and never end it. The ratio
 *   is the time that this takes, divided by the time without them.
 * - `length`: the cost of a claim and its completion in lists of 100, 10,000 and 100,000 jobs.
 * - `leases`: the same cost with 1 to 64 live claims.
 * - `ways`: the cost of a claim by a scan for the first free job, by popping from a stored list of ids, and by tokens.
 *
 * Costs are the consumed capacity that each answer states, which DynamoDB bills. The script exits with an error if a
 * count is wrong or a cost exceeds its limit. `--quick` runs a small version that checks only the counts. `--docs`
 * writes docs/evidence/list-costs.md and docs/images/lists.svg.
 */
import { strict as assert } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wholeNumber } from '../verification/harness/whole-number.ts';
import { costByLeases, costByLength, type LeaseCost } from './lists/costs.ts';
import { pictureOf } from './lists/picture.ts';
import { documentOf } from './lists/report.ts';
import { runStorm } from './lists/storm.ts';
import { compareWays } from './lists/variants.ts';
import { startWorld, type World } from './lists/world.ts';

const PARTS = ['storm', 'poison', 'length', 'leases', 'ways'] as const;
type Part = (typeof PARTS)[number];

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: PARTS.join(',') },
    jobs: { type: 'string' },
    claimers: { type: 'string' },
    seed: { type: 'string', default: '42' },
    quick: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});
const { quick } = values;
const parts = new Set<string>(values.parts.split(','));
const odd = [...parts].filter((part) => !PARTS.includes(part as Part));
const isWhole = parts.size === PARTS.length && !quick;
if (odd.length > 0 || (values.docs && !isWhole)) {
  const [of, names] = [PARTS.join(', '), odd.join(', ')];
  console.error(
    odd.length > 0
      ? `--parts accepts ${of}, not ${names}`
      : '--docs needs all parts and cannot be combined with --quick',
  );
  process.exit(2);
}
const jobs = wholeNumber('jobs', values.jobs ?? (quick ? '1000' : '100000'), 1);
const claimers = wholeNumber('claimers', values.claimers ?? (quick ? '16' : '64'), 1);

const STORM = { jobs, claimers, atOnce: 25, lost: 0.2, dying: 0.1, poison: 0, holders: 0 };
const seed = wholeNumber('seed', values.seed, 0);
const storm = (world: World) => runStorm(world, { ...STORM, seed });

/** The factor by which jobs that no worker can do, and workers that hold a claim, may prolong the work. */
const PROLONGED = 2;

/** The same with jobs that no worker can do, and with almost as many dead workers as the list's row has places. */
const poison = async (world: World) => {
  const plain = await runStorm(world, { ...STORM, seed: seed + 1 });
  const poisoned = await runStorm(world, { ...STORM, poison: 0.01, holders: 61, seed: seed + 2 });
  const ratio = Number((poisoned.seconds / plain.seconds).toFixed(2));
  assert(quick || ratio <= PROLONGED, `poison and dead workers make the work ${ratio} times as long`);
  return { plain, poisoned, ratio };
};

/** The factor by which a claim may cost more in one list than in another. */
const TOLERANCE = 1.1;

const length = async (world: World) => {
  const cost = await costByLength(world, quick ? [100, 3_000] : [100, 10_000, 100_000], quick ? 8 : 400);
  const { writeUnits, readUnits, medianMs } = cost.largestToSmallest;
  assert(writeUnits <= TOLERANCE && readUnits <= TOLERANCE, `units grow with the list: ${JSON.stringify(cost)}`);
  assert(quick || medianMs <= TOLERANCE, `latency differs by more than a tenth: ${JSON.stringify(cost)}`);
  return cost;
};

const unitsAt = (costs: readonly LeaseCost[], row: LeaseCost['row'], live: number): number => {
  const cost = costs.find((each) => each.row === row && each.live === live);
  return cost ? cost.claim + cost.completion : 0;
};

const leases = async (world: World) => {
  const most = quick ? 24 : 64;
  const costs = await costByLeases(world, most, quick ? 200 : 100_000);
  assert(unitsAt(costs, 'short', 12) <= 2, 'a claim and its completion cost more than 2 units with 12 live claims');
  for (const row of ['short', 'longest'] as const)
    assert(
      unitsAt(costs, row, most) <= 10,
      `a claim and its completion cost more than 10 units with ${most} live claims`,
    );
  return costs;
};

const ways = (world: World) =>
  compareWays(world, {
    lengths: quick ? [100, 1_000] : [100, 1_000, 10_000, 30_000, 100_000],
    claimers: quick ? 2 : 8,
    rounds: quick ? 1 : 2,
    withLargest: !quick,
  });

/** Each part has an engine of its own, so that the rows of one part do not slow down the next part. */
const inWorld = async <T>(part: Part, run: (world: World) => Promise<T>): Promise<T | undefined> => {
  if (!parts.has(part)) return undefined;
  const world = await startWorld();
  try {
    return await run(world);
  } finally {
    await world.stop();
  }
};

const figures = {
  storm: await inWorld('storm', storm),
  poison: await inWorld('poison', poison),
  length: await inWorld('length', length),
  leases: await inWorld('leases', leases),
  ways: await inWorld('ways', ways),
};
console.log(JSON.stringify(figures, null, 2));

if (values.docs) {
  const { storm, poison, length, leases, ways } = figures;
  assert(storm && poison && length && leases && ways);
  const docs = join(import.meta.dirname, '..', 'docs');
  writeFileSync(join(docs, 'evidence', 'list-costs.md'), documentOf({ storm, poison, length, leases, ways }));
  writeFileSync(join(docs, 'images', 'lists.svg'), pictureOf(ways));
}
