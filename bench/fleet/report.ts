/** The figures as tables and as a page of the documentation. */

import { RACE_SPANS } from '../baselines/fleet/race-spans.ts';
import { SPANS } from '../baselines/fleet/reading.ts';
import { CONTENDERS, OURS, SWEPT } from './contenders.ts';
import type { Run } from './runs.ts';
import { PARTITIONS, RESTART } from './scenarios.ts';

const named = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
const inSeconds = (span: number | undefined): string => (span === undefined ? 'never' : `${named(span / 1_000)} s`);

/** The name of each column, and its cells. */
const COLUMNS: readonly (readonly [string, (run: Run) => string])[] = [
  ['scenario', ({ scenario }) => scenario],
  ['nodes', ({ nodes }) => named(nodes)],
  ['', ({ contender }) => contender],
  ['moved / optimum', ({ outcome }) => `${named(outcome.moved)} / ${named(outcome.optimum)}`],
  ['even after', ({ outcome }) => inSeconds(outcome.balancedAfter)],
  ['longest without work', ({ outcome }) => inSeconds(outcome.longestOrphaned)],
  ['double work', ({ outcome }) => `${named(outcome.doubleWorked)} s`],
  ['wrong checkpoints', ({ outcome }) => named(outcome.wrongCheckpoints)],
  ['write units an hour', ({ outcome }) => named(outcome.writeUnitsPerHour)],
];

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A row for each run. */
export const tableOf = (runs: readonly Run[]): string =>
  [
    line(COLUMNS.map(([head]) => head)),
    line(COLUMNS.map(([, cell]) => (cell === COLUMNS[0]?.[1] || cell === COLUMNS[2]?.[1] ? '---' : '--:'))),
    ...runs.map((run) => line(COLUMNS.map(([, cell]) => cell(run)))),
  ].join('\n');

/**
 * A table of the partitions that moved, by scenario and number of nodes: for Groupage, the published algorithm, and
 * locks with renewals.
 */
export const movesTable = (runs: readonly Run[]): string => {
  const [scenarios, counts] = [uniqueOf(runs, 'scenario'), uniqueOf(runs, 'nodes')];
  const moved = (scenario: Run['scenario'], nodes: number): string => {
    const here = runs.filter((run) => run.scenario === scenario && run.nodes === nodes);
    const cells = CONTENDERS.map((name) => here.find(({ contender }) => contender === name)?.outcome.moved);
    return `${cells.map((cell) => (cell === undefined ? '–' : named(cell))).join(' / ')} (${here[0]?.outcome.optimum})`;
  };
  return [
    line(['scenario', ...counts.map((count) => `${count} nodes`)]),
    line(['---', ...counts.map(() => '--:')]),
    ...scenarios.map((scenario) => line([scenario, ...counts.map((count) => moved(scenario, count))])),
  ].join('\n');
};

const uniqueOf = <Key extends keyof Run>(runs: readonly Run[], key: Key): readonly Run[Key][] => [
  ...new Set(runs.map((run) => run[key])),
];

const sumOf = (runs: readonly Run[], contender: string, of: (run: Run) => number): string =>
  named(runs.filter((run) => run.contender === contender).reduce((sum, run) => sum + of(run), 0));

/** Sums over all runs of each contender. */
const sumsTable = (runs: readonly Run[]): string =>
  [
    line(['', ...CONTENDERS]),
    line(['---', ...CONTENDERS.map(() => '--:')]),
    ...(
      [
        ['partitions moved', ({ outcome }) => outcome.moved],
        ['optimum', ({ outcome }) => outcome.optimum],
        ['double work, s', ({ outcome }) => outcome.doubleWorked],
        ['wrong checkpoints', ({ outcome }) => outcome.wrongCheckpoints],
        ['runs that end with an uneven share', ({ outcome }) => Number(outcome.balancedAfter === undefined)],
      ] satisfies (readonly [string, (run: Run) => number])[]
    ).map(([name, of]) => line([name, ...CONTENDERS.map((contender) => sumOf(runs, contender, of))])),
  ].join('\n');

/** Whether any contender moved a partition in a scenario. */
const movesIn =
  (runs: readonly Run[]) =>
  (scenario: Run['scenario']): boolean =>
    runs.some((run) => run.scenario === scenario && run.outcome.moved > 0);

/** The scenarios in which no contender moved a partition. */
const withoutMoves = (runs: readonly Run[]): string =>
  uniqueOf(runs, 'scenario')
    .filter((scenario) => !movesIn(runs)(scenario))
    .join('; ') || 'none';

/**
 * A table that compares Groupage with the published algorithm and locks with renewals. It has a row for each scenario
 * with moves.
 */
const pageTable = (runs: readonly Run[]): string => {
  const seconds = (millis: number): string => named(millis / 1_000);
  const columns: readonly (readonly [string, (outcome: Run['outcome']) => string])[] = [
    ['moved', ({ moved }) => named(moved)],
    ['longest without work, s', ({ longestOrphaned }) => seconds(longestOrphaned)],
    ['double work, s', ({ doubleWorked }) => named(doubleWorked)],
    ['wrong checkpoints', ({ wrongCheckpoints }) => named(wrongCheckpoints)],
    ['write units per hour', ({ writeUnitsPerHour }) => named(writeUnitsPerHour)],
  ];
  const rowOf = (scenario: Run['scenario']): string => {
    const all = CONTENDERS.flatMap((name) =>
      runs.filter((run) => run.scenario === scenario && run.contender === name).map(({ outcome }) => outcome),
    );
    const cells = columns.map(([, cell]) => all.map(cell).join(' / '));
    return line([scenario, named(all[0]?.optimum ?? 0), ...cells]);
  };
  return [
    line(['scenario', 'optimum', ...columns.map(([head]) => head)]),
    line(['---', '--:', ...columns.map(() => '--:')]),
    ...uniqueOf(runs, 'scenario').filter(movesIn(runs)).map(rowOf),
  ].join('\n');
};

/** A table of the partitions that the published algorithm moves with other choices, by scenario. */
const sweepTable = (swept: readonly Run[]): string => {
  const scenarios = uniqueOf(swept, 'scenario');
  const moved = (contender: string) => (scenario: Run['scenario']) =>
    named(swept.find((run) => run.contender === contender && run.scenario === scenario)?.outcome.moved ?? Number.NaN);
  return [
    line(['moved', ...scenarios]),
    line(['---', ...scenarios.map(() => '--:')]),
    ...SWEPT.map((name) => line([name.replace('published, ', ''), ...scenarios.map(moved(name))])),
  ].join('\n');
};

/** The smallest and the largest ratio of the others' write units to those of Groupage in the same scenario. */
const writesBeside = (runs: readonly Run[]): string => {
  const told = runs.filter(({ nodes }) => nodes === TOLD_NODES);
  const ours = new Map(told.filter(isOurs).map(({ scenario, outcome }) => [scenario, outcome.writeUnitsPerHour]));
  const ratios = told
    .filter((run) => !isOurs(run))
    .map(({ scenario, outcome }) => outcome.writeUnitsPerHour / (ours.get(scenario) ?? Number.NaN));
  return `${Math.round(Math.min(...ratios))} to ${Math.round(Math.max(...ratios))}`;
};

const isOurs = ({ contender }: Run): boolean => contender === OURS;

const span = (ms: number): string => `${ms / 1_000} s`;

/** The number of nodes for which the page shows all measures. */
export const TOLD_NODES = 4;

const [BEGIN, END] = ['<!-- made by bench:fleet, from here -->', '<!-- to here -->'];

/** Replaces the picture of a page. @param alt the alternative text of the picture */
export const withFigures = (page: string, alt: string): string => {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error(`the page has no markers ${BEGIN} … ${END}`);
  return [`${before}${BEGIN}`, `![${alt}](../images/fleet.svg)`, `${END}${after}`].join('\n\n');
};

/**
 * The text of the page.
 * @param swept the runs of the published algorithm with other choices
 * @param alt the alternative text of the picture
 * @param args the command-line arguments that gave the runs
 */
export const documentOf = (
  runs: readonly Run[],
  swept: readonly Run[],
  alt: string,
  args: string,
): string => `# Sharing partitions, compared

Made by \`npm run bench:fleet -- ${args} --docs\`.

Groupage (\`src/fleet\`), a model of the published algorithm and a model of locks with renewals share ${PARTITIONS} partitions
on the same simulated processes. Half an hour is measured, after five minutes for the first distribution.

![${alt}](../images/fleet.svg)

## All runs together

${sumsTable(runs)}

## With ${TOLD_NODES} nodes

Each entry is Groupage / published / locks with renewals.

${pageTable(runs.filter(({ nodes }) => nodes === TOLD_NODES))}

No contender moved a partition in these scenarios:
${withoutMoves(runs.filter(({ nodes }) => nodes === TOLD_NODES))}.

## The published algorithm with other choices

Its description leaves open how long a host waits for each of its partitions (${span(RACE_SPANS.delayPerLease)} above), how
long the maximum lease is (${span(RACE_SPANS.maximumLease)}), and how the races for different partitions are spread over time (over ${span(RACE_SPANS.spread)}).

${sweepTable(swept)}

## What the figures show

- **The published algorithm moves partitions without need.** Each race is decided by the numbers of partitions when it
  begins. Races that overlap are decided by the same numbers, so one host wins too many, and others win them back. Only
  if races are spread widely enough does the fleet come to rest; a crash or a slow host brings them together again.
  Another model of this algorithm moved 267 partitions in half an hour without an incident, over 1,000 after a crash,
  and 871 with all hosts ten times slower. The model here moves fewer or more, depending on the spread and the delay.
- **With the published algorithm, a slow host loses its partitions.** The owner's advantage in a race is one and a half
  delays. A host that is later than that loses its partitions. Then it has few, so it wins others. With Groupage a node
  has one heartbeat for all partitions, and its Ttl grows with the delays that it has shown.
- **After a crash it works on some partitions only after the maximum lease**, because the dead host's entries remain.
- **Locks with renewals move partitions under overload.** A host renews its locks one after another. Once a round takes
  longer than a lock lasts, other hosts acquire the expired locks, and the checkpoint of the past owner is accepted.
- **Both other contenders pay a write per partition and lease**: ${writesBeside(runs)} times the write units of Groupage, with
  ${TOLD_NODES} nodes.
- **With the published algorithm, a lost notification causes double work.** A host that misses a race works on beside
  the winner. If every living host works on the partition, no host opens another race, and the double work goes on.
- **After a crash Groupage resumes later than locks with renewals**, because a heartbeat must stay unchanged for a whole
  Ttl, over several reads. **If no call succeeds** for long, it stops at its deadline, while the others continue.
- **A restart moves nothing with Groupage** (\`restartWithin\`), if the process comes back in time.

## Definitions

- **Moved**: another node than the last one began to work on a partition. The **optimum** is the fewest that can move:
  those of nodes that leave or crash and do not come back, and those that even out the rest. In a deployment it assumes
  that the nodes that leave next never have the odd partition; no algorithm can know which ones these are.
- **Longest without work**: the longest time that no node worked on some partition. Half a second of it is a unit of
  work in progress at the end of the run.
- **Double work**: time that two nodes worked on the same partition, summed. **Wrong checkpoints**: stored by a past
  owner. In Groupage they carry the fence and are refused.
- **An uneven share**: numbers of partitions differ by more than one at the end of a run.
- **Write units**: one per write, also if refused, without checkpoints.
- **Slow ×k**: each call, timer and notification takes a node k times as long, for ten minutes. **Deployment**: each
  node in turn is replaced, and its successor starts half a minute before or after it leaves. **Rolling restart**: each
  node in turn is stopped, and starts again under its name after ${span(RESTART)}.
- **Published**: "distributed load balancing of batch processing" (2015). Each partition is raced for every
  ${span(RACE_SPANS.normalLease)}, without renewals. Its author says that it fails in practice, because nodes under load answer too slowly.
  \`bench/baselines/fleet/races.ts\` lists what had to be assumed, in its favour.
- **Locks with renewals** (\`bench/baselines/fleet/renewals.ts\`): a lock lasts ${span(SPANS.lock)} and is renewed every ${span(SPANS.renew)}. A host
  announces itself every ${span(SPANS.announce)}, is forgotten after ${span(SPANS.forget)}, and has at most ceil(P / N) partitions.

\`npm run bench:fleet\` exits with 1 if Groupage breaks a promise of \`bench/fleet/promises.ts\`.
`;
