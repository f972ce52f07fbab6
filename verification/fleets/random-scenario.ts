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
  return {
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
};

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
