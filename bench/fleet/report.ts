/** The figures as tables, and as a page of the documentation. */

import { SPANS } from '../baselines/fleet/reading.ts';
import { CONTENDERS, OURS } from './contenders.ts';
import type { Run } from './runs.ts';
import { PARTITIONS } from './scenarios.ts';

const named = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
const inSeconds = (span: number | undefined): string => (span === undefined ? 'never' : `${named(span / 1_000)} s`);

/** The columns: what each is called, and what is in it. */
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

/** What was moved, by scenario and how many nodes there are: ours, and the published one with either formula. */
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

/** Of all runs of each: what they come to. */
const sumsTable = (runs: readonly Run[]): string =>
  [
    line(['', ...CONTENDERS]),
    line(['---', ...CONTENDERS.map(() => '--:')]),
    ...(
      [
        ['partitions moved', ({ outcome }) => outcome.moved],
        ['the optimum', ({ outcome }) => outcome.optimum],
        ['seconds of double work', ({ outcome }) => outcome.doubleWorked],
        ['wrong checkpoints', ({ outcome }) => outcome.wrongCheckpoints],
        ['runs that end uneven', ({ outcome }) => Number(outcome.balancedAfter === undefined)],
      ] satisfies (readonly [string, (run: Run) => number])[]
    ).map(([name, of]) => line([name, ...CONTENDERS.map((contender) => sumOf(runs, contender, of))])),
  ].join('\n');

const span = (ms: number): string => `${ms / 1_000} s`;

/** With so many nodes everything is told of, and of other numbers what was moved. */
export const TOLD_NODES = 4;

const [BEGIN, END] = ['<!-- made by bench:fleet, from here -->', '<!-- to here -->'];

/** A page with new figures where it has some. @param alt of the picture */
export const withFigures = (page: string, runs: readonly Run[], alt: string): string => {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) throw new Error(`the page has no ${BEGIN} … ${END}`);
  const figures = [
    `![${alt}](../images/fleet.svg)`,
    `All ${runs.length / CONTENDERS.length} runs of each, with ${PARTITIONS} partitions and ${uniqueOf(runs, 'nodes').join(', ')} nodes:`,
    sumsTable(runs),
  ];
  return [`${before}${BEGIN}`, ...figures, `${END}${after}`].join('\n\n');
};

/** @param alt of the picture @param args that gave the runs */
export const documentOf = (runs: readonly Run[], alt: string, args: string): string => `# Sharing partitions, compared

Made by \`npm run bench:fleet -- ${args} --docs\`. Partitions are shared by Groupage's own decisions and steps (\`src/fleet\`),
and by a model of the published algorithm that they stand in for, on the same simulated processes: ${PARTITIONS} partitions, half an
hour measured after five minutes in which everybody finds their place. The same seed gives the same figures.

![${alt}](../images/fleet.svg)

## All runs together

${sumsTable(runs)}

## Moved partitions

${OURS} / published with ceil(P / N) / published with floor(P / N) + 1 (the optimum):

${movesTable(runs)}

## With ${TOLD_NODES} nodes

${tableOf(runs.filter(({ nodes }) => nodes === TOLD_NODES))}

## How to read it

- **Where hosts are well the published algorithm stays put, too**, as the model reads it: locks that last three renewals do not end
  by themselves. It pays a write for each partition and renewal, and more for trying locks that are somebody else's.
- **Overload is what moves partitions in it.** A host renews its locks one after the other, each so many times slower; once a round of
  them takes longer than a lock lasts, others take what has ended, release it when they hear of the host again, and so on. The more
  locks a host has the sooner that begins. Ours has one heartbeat, and a Ttl that grows with what a node has shown to need.
- **Wherever it moves something that somebody still works on, two do**, and what the past owner stores is taken: nothing refuses it.
- **Neither formula evens out for every number**: who comes last is left with fewer, or with none. By the second one that is so even
  in a steady state, and whoever has fewer keeps trying the others' locks.
- **Ours begins again later after a crash**, by some ten seconds: a heartbeat has to stand still for a whole Ttl, over several looks.
- **Ours works on nothing that it cannot be sure of.** While no call succeeds, or hardly any, it stops at its deadline, where the
  published algorithm goes on and hopes. At ×1000 most answers come after the client has given up: a node keeps its partitions, and
  works on them while a look has shown it its own heartbeat.

## What is what

- **Moved**: a partition began to be worked on by another node than the last one. **The optimum** is the fewest that can, from
  counts alone: those of whoever dies or leaves, and what evens out the rest. A node that is slow, paused or cut off is still there,
  so that nothing has to move for it. In a deployment it depends on which nodes have one more than others, and is that of one way to
  choose them: another one may come to some fewer, and so does who does not even out.
- **Even after**: from the last incident until the last partition moved; *never* where numbers differ by more than one in the end.
- **Longest without work**: the longest that any partition was worked on by nobody. A node that is paused works on nothing; one that
  is slow works, slowly. Half a second of it is a unit of work that was under way when the run ended.
- **Double work**: summed over partitions, while two nodes worked on one. **Wrong checkpoints**: those that were stored by whoever was
  not the owner any more. In ours they carry the fence and are refused; the published algorithm has nothing that would refuse them.
- **Write units**: one for each write, also for a refused one, checkpoints left out. Ours has one heartbeat a node and cycle, and the
  published algorithm one renewal a partition. Its announcements are notifications, and counted as free.
- **Slow ×k**: every call, timer and notice takes a node k times as long, for ten minutes. **Deployment**: each node in turn goes and
  a new one comes, half a minute before or after.

## The published algorithm

Hosts share partitions by locks in a shared store that end unless they are renewed. Its text was not at hand: \`bench/baselines/fleet/published.ts\`
begins with what is known of it and what had to be assumed, and where that leaves a choice the model takes what is better for it.
A lock lasts ${span(SPANS.lock)} and is renewed each ${span(SPANS.renew)}; a host announces itself each ${span(SPANS.announce)}, is forgotten after ${span(SPANS.forget)}, and looks each ${span(SPANS.balance)} whether it has what it
may have. Its two formulas for that differ where the hosts divide the partitions: by floor(P / N) + 1 not all of them can have the most,
and by both the last host may be left with fewer than others have.

## What must hold

\`npm run bench:fleet\` fails where ours moves anything in a steady state, under overload ×10 and ×100 of one or all nodes, with lost
notifications or 5% of calls failing; moves anything but the optimum when one joins, leaves or crashes; moves more than there and
back for a pause of a minute; lets a checkpoint of a past owner be stored anywhere; or pays more than 3,000 write units an hour with
four nodes.
`;
