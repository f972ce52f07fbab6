/** The figures as a page of the documentation. */
import { type LeaseCost, type LengthReport, stepsOf } from './costs.ts';
import type { StormReport } from './storm.ts';
import { WAYS, type WayCost, type WayName } from './variants.ts';

export interface Figures {
  readonly storm: StormReport;
  readonly poison: { readonly plain: StormReport; readonly poisoned: StormReport; readonly ratio: number };
  readonly length: LengthReport;
  readonly leases: readonly LeaseCost[];
  readonly ways: readonly WayCost[];
}

const named = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 });

const table = (heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [heads, heads.map((_, index) => (index === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.map((cell) => (typeof cell === 'number' ? named(cell) : cell)).join(' | ')} |`)
    .join('\n');

export const documentOf = ({ storm, poison, length, leases, ways }: Figures): string => `# What deferred lists cost

Made by \`npm run bench:lists -- --docs\` on the local engine, with the deployed steps. Units are those that the engine
reports; a refused write counts the units of its row.

## Three ways to hand out a job

![${ALT}](../images/lists.svg)

${waysTable(ways)}

Eight concurrent claimers claim one job of 100 bytes per claim, at five places from the first to the last fifth of each
list.

- **Scan** (\`bench/baselines/lists/scan.ts\`): each job is a row with a status. A claim reads half the list on average.
- **Pop** (\`pop.ts\`): the list row stores the waiting ids, and a claim removes the first. The list ends at 400 KB:
  ${named(largest(ways, 'pop'))} ids of 26 characters.
- **Tokens** (\`src/steps/lists\`): jobs are numbered, and the list row stores the next number. A claim writes one row of a
  kilobyte, also for a hundred jobs.
- With scan and pop, concurrent claims cost ${conflictsOf(ways)} refused writes each. With tokens no write is refused.
- Only tokens have a lease. With the others, the job of a dead worker is lost.

## By the length of the list, and the number of live claims

Claim and completion of one job in sequence, without the tracker's row:

${table(
  ['jobs', 'write units', 'read units', 'ms, median'],
  length.lists.map(({ jobs, writeUnits, readUnits, medianMs }) => [jobs, writeUnits, readUnits, medianMs]),
)}

The list row holds all live claims, and each of them writes it. ${stepsText(leases)}

## ${named(storm.jobs)} jobs, ${storm.claimers} claimers, and faults

${storm.claimers} concurrent claimers, ${storm.atOnce} jobs per claim. ${storm.lost * 100}% of writes happened but were answered with an error. ${storm.dying * 100}% of
claims belong to a worker that died before the answer, with the jobs in hand, or while completing them.

${table(
  ['', 'count'],
  [
    ['results, one per job', storm.results],
    ['jobs with two live leases', storm.hadByTwo],
    ['claims', storm.claims],
    ['workers that died', storm.deaths],
    ['lost answers', storm.lostReplies],
    ['claims that had to retry', storm.toldToWait],
    ['write units per job: add', storm.writeUnitsPerJob.adding],
    ['claim and complete', storm.writeUnitsPerJob.claimsAndCompletions],
    ['tracker', storm.writeUnitsPerJob.tracker],
    ['result', storm.writeUnitsPerJob.results],
    ['read units per job', storm.readUnitsPerJob],
  ],
)}

## Jobs that no worker can do, and dead workers

The same with ${poison.poisoned.poison * 100}% of jobs that every worker releases as attempted, and with ${poison.poisoned.holders} workers that hold a claim from the
beginning and never end it. The work takes ${named(poison.ratio)} times as long as without them.

${table(
  ['', 'without', 'with'],
  [
    ['claims', poison.plain.claims, poison.poisoned.claims],
    ['failed jobs', poison.plain.failed, poison.poisoned.failed],
    ['most deliveries of a job that no worker can do', '–', poison.poisoned.mostDeliveries.poison],
    ['most deliveries of other jobs', poison.plain.mostDeliveries.others, poison.poisoned.mostDeliveries.others],
    [
      'write units per job: claim and complete',
      poison.plain.writeUnitsPerJob.claimsAndCompletions,
      poison.poisoned.writeUnitsPerJob.claimsAndCompletions,
    ],
  ],
)}
`;

export const ALT =
  'Cost of one claim by the length of the list, in write units, read units and milliseconds, for three ways. With a scan, reads grow with the list. With a stored list of ids, writes grow up to the largest row. With tokens, nothing grows.';

const waysTable = (ways: readonly WayCost[]): string => {
  const cell = (jobs: number, way: WayName, of: (cost: WayCost) => number): string | number => {
    const cost = ways.find((each) => each.jobs === jobs && each.way === way);
    return cost ? of(cost) : '–';
  };
  const columns: readonly (readonly [string, (cost: WayCost) => number])[] = [
    ['write units', ({ writeUnits }) => writeUnits],
    ['read units', ({ readUnits }) => readUnits],
  ];
  const heads = columns.flatMap(([name]) => WAYS.map((way) => `${name}: ${way}`));
  const lengths = [...new Set(ways.map(({ jobs }) => jobs))];
  return table(
    ['jobs', ...heads],
    lengths.map((jobs) => [named(jobs), ...columns.flatMap(([, of]) => WAYS.map((way) => cell(jobs, way, of)))]),
  );
};

const largest = (ways: readonly WayCost[], name: WayName): number =>
  Math.max(...ways.filter(({ way }) => way === name).map(({ jobs }) => jobs));

/** The lowest and highest number of refused writes, over the ways without tokens. */
const conflictsOf = (ways: readonly WayCost[]): string => {
  const refused = ways.filter(({ way }) => way !== 'tokens').map((cost) => cost.refused);
  return `${Math.min(...refused)} to ${Math.max(...refused)}`;
};

const stepsText = (leases: readonly LeaseCost[]): string => {
  const of = (row: LeaseCost['row']): string =>
    [...stepsOf(leases.filter((cost) => cost.row === row))].map(([units, live]) => `${units} up to ${live}`).join(', ');
  return `A claim and its completion cost, in write units,\n${of('short')} live claims with a short id,\nand ${of('longest')} with the longest.`;
};
