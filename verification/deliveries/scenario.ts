/**
 * Scenarios of deliveries from a seed: destinations that fail in several ways and may recover, with every fault at some
 * rate.
 */

import { AS_THEY_COME, type Config, KEEP_AUDIT, NO_ALARMS } from '../../src/domain/config/resolved.ts';
import type { Millis } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import type { Shares } from '../../src/ports/callbacks.ts';
import { deliverAll } from '../../src/steps/deliver/deliver.ts';
import type { Sharing } from '../../src/steps/deliver/sharing.ts';
import { sweepDeadLetters } from '../../src/steps/repair/sweep.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { faults, moreFaults } from '../harness/random-faults.ts';
import type { SimulationScenario } from '../harness/simulation.ts';

/** The steps that a schedule runs. */
export const STEPS = { deliverAll, sweepDeadLetters };
export type DeliverySteps = typeof STEPS;

/** Replacements that put a known bug back. */
export interface Patched {
  readonly steps?: Partial<DeliverySteps>;
  /** Changes the state of destinations that each instance of the function keeps. */
  readonly sharing?: (sharing: Sharing) => Sharing;
  /** Changes the state of destinations that is stored. */
  readonly shares?: (shares: Shares) => Shares;
}

/** How a destination answers. */
type Manner = 'quick' | 'slow' | 'hangs' | 'unavailable' | 'refuses';

export interface Receiver {
  readonly name: string;
  readonly timeout: Millis;
  readonly manner: Manner;
  /**
   * The time after which the destination answers quickly, in ms from the start. `never`: the events for it are given
   * up.
   */
  readonly recoversAt: Millis | 'never';
  /** When events for the destination are sent, in ms from the start. */
  readonly events: readonly Millis[];
}

export interface DeliveryScenario extends SimulationScenario {
  readonly config: Config;
  readonly receivers: readonly Receiver[];
  /** Events that an earlier release had given up and left among the dead letters. */
  readonly leftBehind: number;
  /** The number of dead letters for the first receiver that were not redriven yet. */
  readonly fresh: number;
  /** Replacements that put a known bug back. */
  readonly patched?: Patched;
}

const SECRET = { ssm: '/signing' } as const;

/** A random scenario. The same seed gives the same scenario. The first receiver is always healthy. */
export const deliveryScenarioOf = (seed: number): DeliveryScenario => {
  const random = seeded(seed ^ 0xde1);
  const others = Array.from({ length: random.int(1, 4) }, (_, n) => receiver(`d${n}`, random));
  const span = Math.max(...others.map(({ recoversAt }) => (recoversAt === 'never' ? 0 : recoversAt)), 10 * SECOND);
  const well: Receiver = {
    name: 'well',
    timeout: 10 * SECOND,
    manner: 'quick',
    recoversAt: 0,
    events: Array.from({ length: random.int(5, 30) }, () => random.int(0, Math.min(span, 20 * MINUTE))),
  };
  const receivers = [well, ...others];
  return {
    seed,
    config: configOf(receivers),
    receivers,
    leftBehind: random.pick([0, 0, 30, 400]),
    fresh: random.int(0, 2),
    faults: random.chance(0.5) ? NO_FAULTS : { ...faults(random), ...moreFaults(seed) },
    faultsEnd: random.pick([30_000, 10 * MINUTE]),
  };
};

const receiver = (name: string, random: Random): Receiver => {
  const isGone = random.chance(0.05);
  const manner = random.pick<Manner>(['slow', 'hangs', 'hangs', 'unavailable', 'refuses']);
  const count = isGone ? random.int(1, 3) : random.pick([1, 3, 40, 300]);
  const isBurst = random.chance(0.7);
  return {
    name,
    timeout: random.pick([2, 10, 60]) * SECOND,
    manner,
    recoversAt: isGone ? 'never' : random.int(1, 60) * MINUTE,
    events: Array.from({ length: count }, () => (isBurst ? random.int(0, 500) : random.int(0, 10 * MINUTE))),
  };
};

const configOf = (receivers: readonly Receiver[]): Config => ({
  version: 1,
  sources: {},
  limits: {},
  register: AS_THEY_COME,
  operations: {},
  fanOuts: { idleOpen: 0, idleSealed: 0, keep: 0, callback: null },
  lists: { keep: 0, callback: null, maxDeliveries: 5 },
  alarms: NO_ALARMS,
  keepAudit: KEEP_AUDIT,
  destinations: Object.fromEntries(
    receivers.map(({ name, timeout }) => [
      name,
      {
        kind: 'http',
        url: `https://${name}.example/`,
        headers: {},
        secret: SECRET,
        legacySignature: true,
        timeout,
      } as const,
    ]),
  ),
});
