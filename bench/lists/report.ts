/** The figures as a page of the documentation. */
import { type LeaseCost, type LengthReport, stepsOf } from './costs.ts';
import type { StormReport } from './storm.ts';
import { WAYS, type WayCost, type WayName } from './variants.ts';

export interface Figures {
  readonly storm: StormReport;
  readonly length: LengthReport;
  readonly leases: readonly LeaseCost[];
  readonly ways: readonly WayCost[];
}

const named = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 });

const table = (heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [heads, heads.map((_, index) => (index === 0 ? '---' : '--:')), ...rows]
    .map((row) => `| ${row.map((cell) => (typeof cell === 'number' ? named(cell) : cell)).join(' | ')} |`)
    .join('\n');

export const documentOf = ({ storm, length, leases, ways }: Figures): string => `# What deferred lists cost

Made by \`npm run bench:lists -- --docs\`: on the local engine, with the steps as they are deployed. Units are those that the engine states, and for each write that was refused
those of its row. Milliseconds are this engine's, on one machine, with all claimers in one process: compare them with each other.

## Three ways to hand out a job

![${ALT}](../images/lists.svg)

${waysTable(ways)}

The same jobs of a hundred bytes, one a claim, for the same claimers, eight at once, at five places of each list from its beginning to its last fifth; the milliseconds are the median.
*Scan*: each job is a row with a status; whoever claims reads from the first row on until one waits, and marks it (\`bench/baselines/lists/scan.ts\`). *Pop*: the list's row has the
ids that wait, and whoever claims takes the first one away (\`pop.ts\`). *Tokens*: jobs are numbered, and the next number is in the list's row (\`src/steps/lists\`).

- Scanning reads what is done already, each time: half the list, on average. An index of the rows that wait alone would spare that, for two more writes a job, and its readers
  would meet at its first rows as they do here.
- Popping writes the whole row, each time, and ends where the row does: ${named(largest(ways, 'pop'))} ids of 26 characters are 400 KB. At ids of 12 it would be some 31,000.
- Tokens write one row of a kilobyte, and find the job by its number. A claim of a hundred jobs costs the same write unit; scanning pays for each of them, popping for its row.
- Who claims at the same time as others loses jobs to them, and writes for nothing: ${conflictsOf(ways)} refused writes a claim with eight at once. By tokens nobody loses.
- Only the third way has a lease: in the others a job whose worker dies is nobody's for ever, or needs a clock and another scan. That lease is why its completion writes the list's row.

## By the length of the list

Claim and completion of one job, in turns, the tracker's row apart:

${table(
  ['jobs', 'claims', 'write units', 'read units', 'milliseconds, median'],
  length.lists.map(({ jobs, claims, writeUnits, readUnits, medianMs }) => [
    jobs,
    claims,
    writeUnits,
    readUnits,
    medianMs,
  ]),
)}

The largest to the smallest: ${length.largestToSmallest.writeUnits} in write units, ${length.largestToSmallest.readUnits} in read units, ${length.largestToSmallest.medianMs} in milliseconds.

## By how many have claimed something

All live claims are in the list's row, which is written with each of them. Write units of a claim and its completion, the tracker's one apart:

${leasesTable(leases)}

${stepsText(leases)}

## ${named(storm.jobs)} jobs, ${storm.claimers} claimers, and faults

${storm.claimers} claimers at once, ${storm.atOnce} jobs a claim; of the writes ${storm.lost * 100}% were answered with an error though they had happened, and ${storm.dying * 100}% of the claims were of a worker who died: before he heard what he
got, with it in hand, or amid completing it.

${table(
  ['', 'count'],
  [
    ['results, one for each job', storm.results],
    ['jobs that the tracker counts', storm.total],
    ['jobs that two had at once', storm.hadByTwo],
    ['claims', storm.claims],
    ['workers who died', storm.deaths],
    ['claims that took over what another one had', storm.takeovers],
    ['answers that were lost', storm.lostReplies],
    ['claims that were told to ask again, since 64 were live', storm.toldToWait],
    ['writes of the list’s row that were refused', storm.conflicts],
    ['write units a job: to add it', storm.writeUnitsPerJob.adding],
    ['to claim and complete it', storm.writeUnitsPerJob.claimsAndCompletions],
    ['in the tracker', storm.writeUnitsPerJob.tracker],
    ['for its result', storm.writeUnitsPerJob.results],
    ['read units a job', storm.readUnitsPerJob],
  ],
)}

With the leases of the dead the list is at its limit of 64 live claims most of the time: a write of its row costs three units then, and so does one that is refused.
`;

export const ALT =
  'What one claim costs by the length of the list, in write units, read units and milliseconds, for three ways: by scanning reads grow with the list, by a stored list of ids writes do, up to the size that a row may have, and by tokens nothing does.';

const LABELS: Readonly<Record<WayName, string>> = { scan: 'scan', pop: 'pop', tokens: 'tokens' };

const waysTable = (ways: readonly WayCost[]): string => {
  const cell = (jobs: number, way: WayName, of: (cost: WayCost) => number): string | number => {
    const cost = ways.find((each) => each.jobs === jobs && each.way === way);
    return cost ? of(cost) : '–';
  };
  const columns: readonly (readonly [string, (cost: WayCost) => number])[] = [
    ['write units', ({ writeUnits }) => writeUnits],
    ['read units', ({ readUnits }) => readUnits],
    ['ms', ({ ms }) => ms],
  ];
  const heads = columns.flatMap(([name]) => WAYS.map((way) => `${name}: ${LABELS[way]}`));
  const lengths = [...new Set(ways.map(({ jobs }) => jobs))];
  return table(
    ['jobs', ...heads],
    lengths.map((jobs) => [named(jobs), ...columns.flatMap(([, of]) => WAYS.map((way) => cell(jobs, way, of)))]),
  );
};

const largest = (ways: readonly WayCost[], name: WayName): number =>
  Math.max(...ways.filter(({ way }) => way === name).map(({ jobs }) => jobs));

/** From the fewest to the most, over the ways that have some. */
const conflictsOf = (ways: readonly WayCost[]): string => {
  const refused = ways.filter(({ way }) => way !== 'tokens').map((cost) => cost.refused);
  return `${Math.min(...refused)} to ${Math.max(...refused)}`;
};

const LIVE = [1, 10, 20, 32, 64];

const leasesTable = (leases: readonly LeaseCost[]): string => {
  const at = (row: LeaseCost['row'], live: number): number => {
    const cost = leases.find((each) => each.row === row && each.live === live);
    return cost ? cost.claim + cost.completion : 0;
  };
  return table(
    ['live claims', ...LIVE.map(String)],
    [
      ['a short id and no name', ...LIVE.map((live) => at('short', live))],
      ['id and name as long as they may be', ...LIVE.map((live) => at('longest', live))],
    ],
  );
};

const stepsText = (leases: readonly LeaseCost[]): string => {
  const of = (row: LeaseCost['row']): string =>
    [...stepsOf(leases.filter((cost) => cost.row === row))].map(([units, live]) => `${units} up to ${live}`).join(', ');
  return `That is ${of('short')} with a short id, and ${of('longest')} with the longest.`;
};
