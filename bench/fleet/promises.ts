/** What Groupage promises in these scenarios. */
import type { Millis } from '../../src/domain/ids.ts';
import type { FleetOutcome } from '../../verification/fleets/scenario.ts';
import { OURS } from './contenders.ts';
import type { Run } from './runs.ts';
import { PARTITIONS, RESTART, type ScenarioName } from './scenarios.ts';

/** The most write units with four nodes: one heartbeat for each node and cycle, and none for each partition. */
const WRITE_UNITS_MAX = 3_000;

interface Promised {
  readonly says: string;
  readonly isKept: (outcome: FleetOutcome, nodes: number) => boolean;
}

const NOTHING_MOVES: Promised = { says: 'nothing moves', isKept: ({ moved }) => moved === 0 };
const THE_OPTIMUM_MOVES: Promised = {
  says: 'exactly the optimum moves',
  isKept: ({ moved, optimum }) => moved === optimum,
};
/** With equal counts, a node that leaves may have one partition more than another one. */
const ABOUT_THE_OPTIMUM: Promised = {
  says: 'the optimum moves, and at most one partition more for each node that leaves',
  isKept: ({ moved, optimum }, nodes) => moved >= optimum && moved <= optimum + nodes,
};
/** The longest time without work in a calm handover, and the half second of a unit in progress at the end. */
const [HANDED_OVER, A_UNIT]: readonly [Millis, Millis] = [1_000, 500];
/** A partition that is handed over is without work for at most a second. @param restart how long a restart takes, in ms */
const gapsUpTo = (restart: Millis): Promised => ({
  says: `no partition is without work for over ${(restart + HANDED_OVER) / 1_000} s`,
  isKept: ({ longestOrphaned }) => longestOrphaned <= restart + HANDED_OVER + A_UNIT,
});
const THERE_AND_BACK: Promised = {
  says: 'each partition of the paused node moves at most twice',
  isKept: ({ moved }, nodes) => moved <= 2 * Math.ceil(PARTITIONS / nodes),
};

const ALWAYS: readonly Promised[] = [
  { says: 'no checkpoint of a past owner is stored', isKept: ({ wrongCheckpoints }) => wrongCheckpoints === 0 },
  { says: 'no other rule is violated', isKept: ({ violations }) => violations.length === 0 },
];

const IN_A: Readonly<Partial<Record<ScenarioName, readonly Promised[]>>> = {
  steady: [
    NOTHING_MOVES,
    {
      says: `at most ${WRITE_UNITS_MAX.toLocaleString('en')} write units an hour with four nodes`,
      isKept: ({ writeUnitsPerHour }, nodes) => nodes !== 4 || writeUnitsPerHour <= WRITE_UNITS_MAX,
    },
  ],
  'one joins': [THE_OPTIMUM_MOVES, gapsUpTo(0)],
  'one leaves': [THE_OPTIMUM_MOVES, gapsUpTo(0)],
  'one crashes': [THE_OPTIMUM_MOVES],
  'one slow ×10': [NOTHING_MOVES],
  'one slow ×100': [NOTHING_MOVES],
  'all slow ×10': [NOTHING_MOVES],
  'all slow ×100': [NOTHING_MOVES],
  'one pauses 60 s': [THERE_AND_BACK],
  '10% of notifications lost': [NOTHING_MOVES],
  '50% of notifications lost': [NOTHING_MOVES],
  '5% of calls fail': [NOTHING_MOVES],
  'deployment, new first': [ABOUT_THE_OPTIMUM, gapsUpTo(0)],
  'deployment, old first': [ABOUT_THE_OPTIMUM, gapsUpTo(0)],
  'rolling restart': [NOTHING_MOVES, gapsUpTo(RESTART)],
  'one crashes and restarts': [NOTHING_MOVES],
};

/** The promises that a run of Groupage breaks, in words. The other algorithms have no promises. */
export const brokenBy = ({ contender, scenario, nodes, seed, outcome }: Run): readonly string[] =>
  contender === OURS
    ? [...ALWAYS, ...(IN_A[scenario] ?? [])]
        .filter(({ isKept }) => !isKept(outcome, nodes))
        .map(({ says }) => {
          const { worked: _, ...counts } = outcome;
          return `${scenario}, ${nodes} nodes, seed ${seed}: ${says}, but ${JSON.stringify(counts)}`;
        })
    : [];
