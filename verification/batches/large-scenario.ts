/**
 * Large scenarios from a seed: hundreds to thousands of Targets, most of them with one or two tasks, in operations that
 * share queues and functions. One operation has no limit. The other operations have caps of many pages, or a rate.
 */

import { AS_THEY_COME, type Operation } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName } from '../../src/domain/ids.ts';
import { PAGE_SIZE } from '../../src/domain/operations/slot-pages.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { type FaultRates, NO_FAULTS } from '../../src/virtual/faults.ts';
import { type Random, seeded } from '../../src/virtual/random.ts';
import { faults } from '../harness/random-faults.ts';
import { configOf } from './configurations.ts';
import { randomLimits } from './random-limits.ts';
import type { Scenario } from './scenario.ts';
import { NOWHERE } from './simulated-downstream.ts';

const [FREE, CAPPED, RATED] = ['free', 'capped', 'rated'] as OperationName[] as [
  OperationName,
  OperationName,
  OperationName,
];

/** A random scenario. The same seed gives the same scenario. Half of them have no faults. */
export const largeScenarioOf = (seed: number): Scenario => {
  const random = seeded(seed ^ 0x1a49e);
  const isCalm = random.chance(0.5);
  const targets = random.chance(0.02) ? 2_000 : random.pick([100, 100, 100, 100, 150, 200, 300, 500]);
  const operations = random.chance(0.5) ? [FREE, CAPPED, RATED] : [FREE, random.pick([CAPPED, RATED])];
  const span: Millis = random.pick([0, 2_000, 60_000]);
  const sends = sendsTo(random, targets, operations, span);
  const pauses = random.chance(0.3)
    ? [{ at: random.int(0, span), lasts: random.int(1_000, 600_000), of: random.pick(operations.slice(1)) }]
    : [];
  const limited = randomLimits(seed, 1 / 5, span, [5, 20, 100]);
  return {
    seed,
    config: {
      ...configOf(
        random.chance(0.7) ? AS_THEY_COME : { maxMessages: 500, maxWait: 1_000 },
        Object.fromEntries(operations.map((name) => [name, { ...operationOf(random, name), ...limited.named() }])),
      ),
      limits: limited.limits,
    },
    sends,
    flushes: [],
    pauses,
    redrives: random.chance(0.3) ? [{ at: span + 60_000, times: 1 }] : [],
    purges: [],
    changes: limited.changes,
    faults: isCalm ? NO_FAULTS : lessOften(faults(random)),
    faultsEnd: random.pick([30_000, 300_000]),
    patrol: random.chance(0.5),
    slotsPerPage: random.pick([2, PAGE_SIZE, PAGE_SIZE]),
    slowSweep: random.pick([0, 100, 2_000]),
    slack: targets > 500 ? 2 * LED_WITHIN : LED_WITHIN,
    // Only without faults, because a function that died would count as running without end.
    ...(isCalm ? { functionsAtOnce: random.pick([20, 50, 100]) } : {}),
  };
};

/**
 * How long the leaders of all Targets and the calls of all batches take together, in ms, with this few concurrent
 * functions. Messages arrive in any order, so some messages wait until most of the thousands of messages sent with them
 * are handled. With 2,000 Targets all of them take twice as long.
 */
const LED_WITHIN: Millis = 60_000;

/** Lower fault rates are enough, because these schedules have many more invocations. */
export const lessOften = ({ skew, ...rates }: FaultRates): FaultRates => ({
  ...(Object.fromEntries(Object.entries(rates).map(([kind, rate]) => [kind, rate / 4])) as Omit<FaultRates, 'skew'>),
  skew,
});

/** Most Targets have one or two tasks. Some have so many tasks that their batches fill more than one page of slots. */
export const sendsTo = (
  random: Random,
  targets: number,
  operations: readonly OperationName[],
  span: Millis,
): Scenario['sends'] => {
  let n = 0;
  return Array.from({ length: targets }, (_, depot) => {
    const operation = random.pick(operations);
    const tasks = random.chance(0.01) ? random.int(20, 100) : random.int(1, 3);
    return Array.from({ length: tasks }, () => {
      n += 1;
      const body = JSON.stringify({ operation, id: `t${n}`, payload: { depot, text: 'x'.repeat(random.int(0, 60)) } });
      return { at: random.int(0, span), body };
    });
  }).flat();
};

export const operationOf = (random: Random, name: OperationName): Operation => {
  const maxSize = random.pick([1, 2, 5, 10]);
  const isCapped = name === CAPPED;
  return {
    operation: name,
    keys: ['depot'],
    shards: 1,
    batch: {
      maxSize,
      maxBytes: 1_000_000,
      maxWeight: 0,
      maxWait: random.pick([0, 1_000, 10_000, 40_000]),
      quietPeriod: 0,
      minSize: 1,
      window: null,
      bypass: null,
    },
    merge: null,
    concurrency: {
      perTarget: isCapped ? random.pick([null, 1, 12, 25]) : null,
      total: isCapped ? random.pick([15, 40, 100, 300]) : null,
    },
    downstream: {
      ...NOWHERE,
      timeout: 5_000,
      deadline: random.pick([60_000, 600_000]),
    },
    retry: {
      immediate: random.int(0, 1),
      maxAttempts: random.int(1, 3),
      minDelay: 1_000,
      maxDelay: 60_000,
      bisect: random.chance(0.5),
      isolate: true,
    },
    callbacks: { failed: null, succeeded: null },
    limits: [],
    rateLimit: name === RATED ? random.pick([5, 20, 100]) : null,
    circuit: isCapped && random.chance(0.3) ? { failures: random.int(5, 20), coolDown: 30_000 } : null,
    keepTasks: 30 * 24 * 60 * MINUTE,
  };
};
