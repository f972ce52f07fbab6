/**
 * A fleet's scenario from a seed: nodes join, leave and crash, some nodes are slow, silent or blocked, and calls to the
 * table fail.
 */
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import type { FleetScenario, Incident, SimulatedNode } from './scenario.ts';

/**
 * Incidents occur only in the first of these time spans. The fleet settles within the second, which covers the longest
 * lease duration (Ttl) and several pauses.
 */
const [TURMOIL, REST]: readonly [Millis, Millis] = [10 * MINUTE, 25 * MINUTE];

export const fleetScenarioOf = (seed: number): FleetScenario => {
  const random = seeded(seedOf(seed, 'fleet'));
  const partitions = random.int(1, 12);
  const count = random.int(1, 6);
  const nodes = Array.from({ length: count }, (_, index) => nodeOf(random, `n${index}`, index === 0));
  const outageFrom = random.int(0, TURMOIL);
  const usual: FleetScenario = {
    name: `seed ${seed}`,
    seed,
    partitions,
    ...(random.chance(0.3) ? { weights: Array.from({ length: partitions }, () => random.int(1, 9)) } : {}),
    nodes,
    measureFrom: 0,
    endsAt: TURMOIL + REST,
    storeErrors: random.pick([0, 0, 0.02, 0.1]),
    lostNotifications: 0,
    ...separation(seed),
    ...(random.chance(0.2)
      ? { outage: { from: outageFrom, to: outageFrom + random.int(5 * SECOND, 3 * MINUTE) } }
      : {}),
  };
  return calmOrRestarting(usual);
};

/** Some scenarios have nodes whose partitions wait for their next process; some of these are calm. */
const calmOrRestarting = (scenario: FleetScenario): FleetScenario => {
  const random = seeded(seedOf(scenario.seed, 'restarts'));
  if (random.chance(0.25)) return calm(random, scenario);
  return random.chance(0.4) ? restarting(random, scenario) : scenario;
};

/** Nothing fails. One node after another leaves, or restarts within seconds. */
const calm = (random: Random, { outage: _, nodes, ...scenario }: FleetScenario): FleetScenario => ({
  ...scenario,
  storeErrors: 0,
  isCalm: true,
  nodes: nodes.flatMap(({ name }, index): SimulatedNode[] => {
    const startsAt = random.int(0, 8 * SECOND);
    const at = 2 * MINUTE + index * 75 * SECOND + random.int(0, 10 * SECOND);
    const node = { name, startsAt, incidents: [{ at, do: 'leave' } as const] };
    if (random.chance(0.5)) return [index === 0 ? { ...node, incidents: [] } : node];
    const restartWithin = random.int(45, 120) * SECOND;
    const comesBackAt = at + random.int(4 * SECOND, 30 * SECOND);
    return [
      { ...node, restartWithin },
      { name, restartWithin, startsAt: comesBackAt, incidents: [] },
    ];
  }),
});

/** Some nodes come back under their names, in time or late, or their names are given to a second process. */
const restarting = (random: Random, { nodes, ...scenario }: FleetScenario): FleetScenario => ({
  ...scenario,
  nodes: nodes.flatMap((node): SimulatedNode[] => {
    if (random.chance(0.3)) return [node];
    const restartWithin = random.pick([30, 60, 120]) * SECOND;
    const end = node.incidents.find((incident) => incident.do === 'crash' || incident.do === 'leave');
    const again = (startsAt: Millis): SimulatedNode => ({ name: node.name, restartWithin, startsAt, incidents: [] });
    return [
      { ...node, restartWithin },
      ...(end && random.chance(0.8) ? [again(end.at + random.int(100, random.pick([5, 40, 150]) * SECOND))] : []),
      ...(random.chance(0.25) ? [again(node.startsAt + random.int(0, random.pick([2, 300]) * SECOND))] : []),
    ];
  }),
});

/**
 * Whether a fleet is new, or began with release 0.2.0. In the latter case its checkpoints are moved to rows of their
 * own at some moment, or never.
 */
const separation = (seed: number): Pick<FleetScenario, 'separatesAt'> => {
  const random = seeded(seedOf(seed, 'checkpoints'));
  if (random.chance(0.5)) return {};
  return { separatesAt: random.chance(0.8) ? random.int(0, TURMOIL) : Number.MAX_SAFE_INTEGER };
};

/** @param stays whether the node remains until the end */
const nodeOf = (random: Random, name: string, stays: boolean): SimulatedNode => {
  const startsAt = random.chance(0.5) ? random.int(0, 8 * SECOND) : random.int(0, TURMOIL / 2);
  const times = Array.from({ length: random.int(0, 4) }, () => random.int(startsAt, TURMOIL)).sort((a, b) => a - b);
  const incidents = times.flatMap((at): Incident[] => {
    switch (random.int(0, stays ? 2 : 4)) {
      case 0:
        return [{ at, do: 'pause', span: random.int(SECOND, random.pick([20, 90, 300]) * SECOND) }];
      case 1:
        return [{ at, do: 'block', span: random.int(SECOND, random.pick([20, 90, 300]) * SECOND) }];
      case 2:
        return [
          { at, do: 'slow', times: random.pick([10, 100, 400, 1_000]) },
          { at: random.int(at, TURMOIL), do: 'slow', times: 1 },
        ];
      case 3:
        return [{ at, do: 'crash' }];
      default:
        return [{ at, do: 'leave' }];
    }
  });
  return { name, startsAt, incidents };
};
