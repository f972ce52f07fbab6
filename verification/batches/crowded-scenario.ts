/**
 * Crowded scenarios from a seed: two operations with 500 Targets share one limit, while faults happen and the limit
 * changes.
 */
import { AS_THEY_COME, type Config, type Operation } from '../../src/domain/config/resolved.ts';
import type { LimitName, OperationName } from '../../src/domain/ids.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { faults } from '../harness/random-faults.ts';
import { configOf } from './configurations.ts';
import { lessOften, operationOf, sendsTo } from './large-scenario.ts';
import type { Scenario } from './scenario.ts';

const [SHIP, RETURN] = ['ship', 'return'] as [OperationName, OperationName];
const OPERATIONS = [SHIP, RETURN];
const VENDOR = 'vendor' as LimitName;
const TARGETS = 500;
/** Calls a second at which all Targets get their turn within minutes. */
const RATES = [5, 20, 50, 200];

/** A random scenario. The same seed gives the same scenario. */
export const crowdedScenarioOf = (seed: number): Scenario => {
  const random = seeded(seed ^ 0xc70d);
  const span = random.pick([0, 2_000, 60_000]);
  const operation = (name: OperationName): Operation => ({ ...operationOf(random, name), limits: [VENDOR] });
  const limits = (): Config['limits'] => ({ [VENDOR]: limit(random) });
  return {
    seed,
    config: {
      ...configOf(AS_THEY_COME, Object.fromEntries(OPERATIONS.map((name) => [name, operation(name)]))),
      limits: limits(),
    },
    sends: sendsTo(random, TARGETS, OPERATIONS, span),
    flushes: [],
    pauses: random.chance(0.3) ? [{ at: random.int(0, span), lasts: random.int(1_000, 120_000), of: SHIP }] : [],
    redrives: [],
    purges: [],
    changes: random.chance(0.5) ? [{ at: random.int(0, span + MINUTE), to: {}, limits: limits() }] : [],
    faults: lessOften(faults(random)),
    faultsEnd: random.pick([30_000, 300_000]),
    patrol: random.chance(0.5),
    slotsPerPage: 2,
    slowSweep: 0,
    slack: 2 * MINUTE,
  };
};

const limit = (random: Random): Config['limits'][LimitName] => {
  const calls = random.pick(RATES);
  return {
    calls,
    weight: null,
    per: SECOND,
    burst: random.pick([1, 1, Math.ceil(calls / 2)]),
    key: null,
    concurrency: { calls: random.chance(0.4) ? random.pick([2, 10, 30]) : null, weight: null },
  };
};
