/** The figures as tables and as a page of the documentation. */

import { SPANS } from '../baselines/fleet/reading.ts';
import { CONTENDERS } from './contenders.ts';
import type { Run } from './runs.ts';
import { PARTITIONS } from './scenarios.ts';

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
 * A table of the partitions that moved, by scenario and number of nodes: for Groupage, then for the published algorithm
 * with each formula.
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

/** Whether Groupage or the published algorithm with its first formula moved a partition in a scenario. */
const movesIn =
  (runs: readonly Run[]) =>
  (scenario: Run['scenario']): boolean =>
    runs.some(
      (run) => run.scenario === scenario && CONTENDERS.slice(0, 2).includes(run.contender) && run.outcome.moved > 0,
    );

/** The scenarios in which neither Groupage nor the published algorithm moved a partition. */
const withoutMoves = (runs: readonly Run[]): string =>
  uniqueOf(runs, 'scenario')
    .filter((scenario) => !movesIn(runs)(scenario))
    .join('; ');

/**
 * A table that compares Groupage with the published algorithm and its first formula. It has a row for each scenario
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
    const pair = CONTENDERS.slice(0, 2).flatMap((name) =>
      runs.filter((run) => run.scenario === scenario && run.contender === name).map(({ outcome }) => outcome),
    );
    const cells = columns.map(([, cell]) => pair.map(cell).join(' / '));
    return line([scenario, named(pair[0]?.optimum ?? 0), ...cells]);
  };
  return [
    line(['scenario', 'optimum', ...columns.map(([head]) => head)]),
    line(['---', '--:', ...columns.map(() => '--:')]),
    ...uniqueOf(runs, 'scenario').filter(movesIn(runs)).map(rowOf),
  ].join('\n');
};

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
 * @param alt the alternative text of the picture
 * @param args the command-line arguments that gave the runs
 */
export const documentOf = (runs: readonly Run[], alt: string, args: string): string => `# Sharing partitions, compared

Made by \`npm run bench:fleet -- ${args} --docs\`. Groupage (\`src/fleet\`) and a model of the published
algorithm share ${PARTITIONS} partitions on the same simulated processes. Half an hour is measured, after five minutes for the
first distribution. The same seed gives the same figures. The command prints every measure of every run.

![${alt}](../images/fleet.svg)

## All runs together

${sumsTable(runs)}

## With ${TOLD_NODES} nodes

Each pair is Groupage / published with ceil(P / N).

${pageTable(runs.filter(({ nodes }) => nodes === TOLD_NODES))}

Neither moved a partition in these scenarios: ${withoutMoves(runs.filter(({ nodes }) => nodes === TOLD_NODES))}.

## What the figures show

- **Without overload the published algorithm moves nothing either.** It pays a write per partition and renewal.
- **Overload moves its partitions.** A host renews its locks one after another. Once a round takes longer than a lock
  lasts, other hosts acquire the expired locks. A Groupage node has one heartbeat, and its Ttl grows with the delays it
  has shown.
- **A partition that moves while its owner still works on it is worked on twice.** The published algorithm accepts the
  checkpoint of the past owner.
- **Neither published formula spreads every number of partitions evenly.** The last host has fewer partitions or none.
- **After a crash Groupage resumes about ten seconds later**, because a heartbeat must stay unchanged for a whole Ttl
  over several reads.
- **Groupage stops at its deadline if no call succeeds**, while the published algorithm continues.

## Definitions

- **Moved**: another node than the last one began to work on a partition. The **optimum** is the fewest that can move:
  those of nodes that leave or crash, and those that even out the rest.
- **Longest without work**: the longest time that no node worked on some partition. Half a second of it is a unit of work
  in progress at the end of the run.
- **Double work**: time that two nodes worked on the same partition, summed. **Wrong checkpoints**: stored by a past
  owner. In Groupage they carry the fence and are refused.
- **An uneven share**: numbers of partitions differ by more than one at the end of a run.
- **Write units**: one per write, also if refused, without checkpoints.
- **Slow ×k**: each call, timer and notification takes a node k times as long, for ten minutes. **Deployment**: each
  node in turn is replaced, and its successor starts half a minute before or after it leaves.
- **Published**: hosts share partitions by locks in a shared store that expire unless renewed.
  \`bench/baselines/fleet/published.ts\` lists what had to be assumed, in its favour. A lock lasts ${span(SPANS.lock)} and is renewed
  every ${span(SPANS.renew)}. A host announces itself every ${span(SPANS.announce)} and is forgotten after ${span(SPANS.forget)}.

\`npm run bench:fleet\` exits with 1 if Groupage breaks a promise of \`bench/fleet/promises.ts\`.
`;
