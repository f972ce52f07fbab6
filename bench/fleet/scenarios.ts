/** The scenarios of both algorithms. They have 64 partitions, and half an hour is measured. */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import type { FleetScenario, Incident, SimulatedNode } from '../../verification/fleets/scenario.ts';

export const PARTITIONS = 64;

/** Times of a scenario, in milliseconds from its start. */
export interface Timing {
  /** The time at which the measurement begins. The fleet has settled by then. */
  readonly measureFrom: Millis;
  /** The time of an incident that happens once. */
  readonly incidentAt: Millis;
  /** How long nodes are overloaded. */
  readonly overloaded: Millis;
  readonly endsAt: Millis;
}

export const HALF_AN_HOUR: Timing = {
  measureFrom: 5 * MINUTE,
  incidentAt: 10 * MINUTE,
  overloaded: 10 * MINUTE,
  endsAt: 35 * MINUTE,
};

/** A shorter timing for a quick run. It is too short for a deployment and for pauses each minute. */
export const SOME_MINUTES: Timing = {
  measureFrom: 2 * MINUTE,
  incidentAt: 2.5 * MINUTE,
  overloaded: 2 * MINUTE,
  endsAt: 5.5 * MINUTE,
};

/**
 * In a deployment: the time between two replacements, and the time between the start of a new node and the end of the
 * node that it replaces, whichever comes first.
 */
const [STEP, BETWEEN]: readonly [Millis, Millis] = [90 * SECOND, 30 * SECOND];

/** Makes a scenario for a given number of nodes. */
type Make = (count: number, timing: Timing) => Partial<Omit<FleetScenario, 'name'>>;

const aNode = (name: string, startsAt: Millis, incidents: readonly Incident[] = []): SimulatedNode => ({
  name,
  startsAt,
  incidents,
});

/** Nodes that start one after another, within seconds. @param incidents the incidents of each node, by its index */
const nodes = (count: number, incidents: (index: number) => readonly Incident[] = () => []): readonly SimulatedNode[] =>
  Array.from({ length: count }, (_, index) => aNode(`node-${index}`, index * 300, incidents(index)));

const first =
  (incidents: (timing: Timing) => readonly Incident[]): Make =>
  (count, timing) => ({ nodes: nodes(count, (index) => (index === 0 ? incidents(timing) : [])) });

const overload =
  (times: number) =>
  ({ incidentAt, overloaded }: Timing): readonly Incident[] => [
    { at: incidentAt, do: 'slow', times },
    { at: incidentAt + overloaded, do: 'slow', times: 1 },
  ];

const allSlow =
  (times: number): Make =>
  (count, timing) => ({ nodes: nodes(count, () => overload(times)(timing)) });

const pauses =
  (span: Millis, times: number) =>
  ({ measureFrom }: Timing): readonly Incident[] =>
    Array.from({ length: times }, (_, index) => ({ at: measureFrom + (index + 1) * MINUTE, do: 'pause', span }));

/** Nodes leave one after another, and a new node replaces each of them. */
const rolling =
  (order: 'new first' | 'old first'): Make =>
  (count, { measureFrom }) => {
    const step = (index: number): Millis => measureFrom + MINUTE + index * STEP;
    const [comes, goes] = order === 'new first' ? [0, BETWEEN] : [BETWEEN, 0];
    return {
      nodes: [
        ...nodes(count, (index) => [{ at: step(index) + goes, do: 'leave' }]),
        ...Array.from({ length: count }, (_, index) => aNode(`node-${count + index}`, step(index) + comes)),
      ],
    };
  };

/** How long partitions wait for a restart, and how long a restart takes from the stop to the next start. */
const RESTART_WITHIN: Millis = MINUTE;
export const RESTART: Millis = 10 * SECOND;

const aRestart = (name: string, at: Millis, how: 'leave' | 'crash', startsAt: Millis): readonly SimulatedNode[] => [
  { ...aNode(name, startsAt, [{ at, do: how }]), restartWithin: RESTART_WITHIN },
  { ...aNode(name, at + RESTART), restartWithin: RESTART_WITHIN },
];

/** Nodes stop one after another, and each comes back under its name. */
const restarts: Make = (count, { measureFrom }) => ({
  nodes: nodes(count).flatMap(({ name, startsAt }, index) =>
    aRestart(name, measureFrom + MINUTE + index * STEP, 'leave', startsAt),
  ),
});

const MAKES = {
  steady: () => ({}),
  'one joins': (count, { incidentAt }) => ({ nodes: [...nodes(count), aNode(`node-${count}`, incidentAt)] }),
  'one leaves': first(({ incidentAt }) => [{ at: incidentAt, do: 'leave' }]),
  'one crashes': first(({ incidentAt }) => [{ at: incidentAt, do: 'crash' }]),
  'one slow ×10': first(overload(10)),
  'one slow ×100': first(overload(100)),
  'one slow ×1000': first(overload(1_000)),
  'all slow ×10': allSlow(10),
  'all slow ×100': allSlow(100),
  'one pauses 15 s each minute': first(pauses(15 * SECOND, 20)),
  'one pauses 60 s': first(({ incidentAt }) => [{ at: incidentAt, do: 'pause', span: MINUTE }]),
  '10% of notifications lost': () => ({ lostNotifications: 0.1 }),
  '50% of notifications lost': () => ({ lostNotifications: 0.5 }),
  '5% of calls fail': () => ({ storeErrors: 0.05 }),
  '30% of calls fail': () => ({ storeErrors: 0.3 }),
  'no call succeeds for 60 s': (_, { incidentAt }) => ({ outage: { from: incidentAt, to: incidentAt + MINUTE } }),
  'deployment, new first': rolling('new first'),
  'deployment, old first': rolling('old first'),
  'rolling restart': restarts,
  'one crashes and restarts': (count, { incidentAt }) => ({
    nodes: [...aRestart('node-0', incidentAt, 'crash', 0), ...nodes(count).slice(1)],
  }),
} satisfies Readonly<Record<string, Make>>;

export type ScenarioName = keyof typeof MAKES;
export const SCENARIO_NAMES = Object.keys(MAKES) as readonly ScenarioName[];

/** @param count the number of nodes at the beginning, 1 to 16; a larger deployment does not end within half an hour */
export const fleetScenario = (
  name: ScenarioName,
  count: number,
  seed: number,
  timing: Timing = HALF_AN_HOUR,
): FleetScenario => ({
  seed,
  partitions: PARTITIONS,
  nodes: nodes(count),
  measureFrom: timing.measureFrom,
  endsAt: timing.endsAt,
  storeErrors: 0,
  lostNotifications: 0,
  ...MAKES[name](count, timing),
  name,
});
