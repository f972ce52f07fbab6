/** What both algorithms of the benchmark go through: 64 partitions, and half an hour that is measured. */
import type { Millis } from '../../batching/ids.ts';
import type { FleetScenario, Incident, SimulatedNode } from './scenario.ts';

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60_000;

export const PARTITIONS = 64;
/** Everybody finds their place before. */
const MEASURE_FROM = 5 * MINUTE;
/** What happens, happens from then on. */
const THEN = 10 * MINUTE;
const ENDS_AT = 35 * MINUTE;
/** For how long nodes are overloaded. */
const OVERLOADED = 10 * MINUTE;
/** Between two steps of a deployment, and within one between who comes and who goes. */
const [STEP, BETWEEN]: readonly [Millis, Millis] = [90 * SECOND, 30 * SECOND];

/** Of so many nodes. */
type Make = (count: number) => Partial<Omit<FleetScenario, 'name'>>;

const aNode = (name: string, startsAt: Millis, incidents: readonly Incident[] = []): SimulatedNode => ({
  name,
  startsAt,
  incidents,
});

/** They begin one after the other, within seconds. @param incidents of each of them, the first one is 0 */
const nodes = (count: number, incidents: (index: number) => readonly Incident[] = () => []): readonly SimulatedNode[] =>
  Array.from({ length: count }, (_, index) => aNode(`node-${index}`, index * 300, incidents(index)));

const first =
  (...incidents: readonly Incident[]): Make =>
  (count) => ({ nodes: nodes(count, (index) => (index === 0 ? incidents : [])) });

const overload = (times: number): readonly Incident[] => [
  { at: THEN, do: 'slow', times },
  { at: THEN + OVERLOADED, do: 'slow', times: 1 },
];

const pauses = (span: Millis, times: number): readonly Incident[] =>
  Array.from({ length: times }, (_, index) => ({ at: MEASURE_FROM + (index + 1) * MINUTE, do: 'pause', span }));

/** One node after another goes, and a new one comes. */
const rolling =
  (order: 'new first' | 'old first'): Make =>
  (count) => {
    const step = (index: number): Millis => MEASURE_FROM + MINUTE + index * STEP;
    const [comes, goes] = order === 'new first' ? [0, BETWEEN] : [BETWEEN, 0];
    return {
      nodes: [
        ...nodes(count, (index) => [{ at: step(index) + goes, do: 'leave' }]),
        ...Array.from({ length: count }, (_, index) => aNode(`node-${count + index}`, step(index) + comes)),
      ],
    };
  };

const MAKES = {
  steady: () => ({}),
  'one joins': (count) => ({ nodes: [...nodes(count), aNode(`node-${count}`, THEN)] }),
  'one leaves': first({ at: THEN, do: 'leave' }),
  'one crashes': first({ at: THEN, do: 'crash' }),
  'one slow ×10': first(...overload(10)),
  'one slow ×100': first(...overload(100)),
  'one slow ×1000': first(...overload(1_000)),
  'all slow ×10': (count) => ({ nodes: nodes(count, () => overload(10)) }),
  'all slow ×100': (count) => ({ nodes: nodes(count, () => overload(100)) }),
  'one pauses 15 s each minute': first(...pauses(15 * SECOND, 20)),
  'one pauses 60 s': first({ at: THEN, do: 'pause', span: MINUTE }),
  '10% of notifications lost': () => ({ lostNotifications: 0.1 }),
  '50% of notifications lost': () => ({ lostNotifications: 0.5 }),
  '5% of calls fail': () => ({ storeErrors: 0.05 }),
  '30% of calls fail': () => ({ storeErrors: 0.3 }),
  'no call succeeds for 60 s': () => ({ outage: { from: THEN, to: THEN + MINUTE } }),
  'deployment, new first': rolling('new first'),
  'deployment, old first': rolling('old first'),
} satisfies Readonly<Record<string, Make>>;

export type ScenarioName = keyof typeof MAKES;
export const SCENARIO_NAMES = Object.keys(MAKES) as readonly ScenarioName[];

/** @param count how many nodes there are at first, 2 to 16: a deployment of more does not end in time */
export const fleetScenario = (name: ScenarioName, count: number, seed: number): FleetScenario => ({
  seed,
  partitions: PARTITIONS,
  nodes: nodes(count),
  measureFrom: MEASURE_FROM,
  endsAt: ENDS_AT,
  storeErrors: 0,
  lostNotifications: 0,
  ...MAKES[name](count),
  name,
});
