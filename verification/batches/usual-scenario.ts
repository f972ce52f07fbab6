/** Usual scenarios from a seed: a few Targets, a few dozen tasks, every policy, and every fault at some rate. */

import { AS_THEY_COME, type Operation, type RegisterPolicy } from '../../src/domain/config/resolved.ts';
import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import type { Outage } from '../../src/virtual/chaos.ts';
import type { FaultRates } from '../../src/virtual/faults.ts';
import { type Random, seeded, seedOf } from '../../src/virtual/random.ts';
import { faults, moreFaults } from '../harness/random-faults.ts';
import { type ConfigChange, configOf } from './configurations.ts';
import { fanningOut } from './fanned-out.ts';
import { randomLimits } from './random-limits.ts';
import type { Scenario } from './scenario.ts';
import { NOWHERE } from './simulated-downstream.ts';

const OPERATION = 'ship' as OperationName;

/** A random scenario. The same seed gives the same scenario. In every fifth scenario, tasks are items of a fan-out. */
export const scenarioOf = (seed: number): Scenario => (seed % 5 === 0 ? fanningOut(ofTasks(seed)) : ofTasks(seed));

const ofTasks = (seed: number): Scenario => {
  const random = seeded(seed ^ 0x5eed);
  const span: Millis = random.pick([0, 2_000, 60_000, 600_000]);
  const targets = random.int(1, 4);
  const sends = Array.from({ length: random.int(1, 40) }, (_, n) => ({
    at: random.int(0, span),
    body: body(n, random.int(1, targets), random),
  }));
  const flushes = Array.from({ length: random.pick([0, 0, 0, 1, 3, 40]) }, () => ({
    at: random.int(0, span + 60_000),
    target: `${OPERATION}/depot=${random.int(1, targets)}` as Target,
  }));
  const redrives = Array.from({ length: random.pick([0, 0, 1, 2, 4]) }, () => ({
    at: random.int(0, span + random.pick([10_000, 600_000, 3_600_000])),
    times: random.pick([1, 1, 2]),
  }));
  const cancels = Array.from({ length: random.pick([0, 0, 0, 2, 10]) }, () => ({
    at: random.int(0, span + 10_000),
    id: `t${random.int(0, 40)}` as TaskId,
  }));
  const pauses = Array.from({ length: random.pick([0, 0, 0, 1, 3]) }, () => ({
    at: random.int(0, span + 60_000),
    lasts: random.int(0, random.pick([1_000, 60_000, 1_800_000])),
    of: random.chance(0.5) ? OPERATION : (`${OPERATION}/depot=${random.int(1, targets)}` as Target),
  }));
  const purges = random.chance(0.15)
    ? Array.from({ length: random.int(1, 2) }, () => random.int(0, span + 60_000))
    : [];
  const batched = operation(random);
  const limited = randomLimits(seed, 1 / 4, span, [0.2, 1, 5]);
  const scenario: Scenario = {
    seed,
    config: {
      ...configOf(gathering(seed), { [OPERATION]: { ...batched, ...handling(seed), ...limited.named() } }, { ops }),
      limits: limited.limits,
    },
    sends: outOfOrder(seed, [...sends, ...oddSends(random, sends)]),
    flushes,
    cancels,
    pauses,
    redrives,
    purges,
    changes: [...rates(seed, span), ...caps(seed, span, batched), ...limited.changes].toSorted((a, b) => a.at - b.at),
    faults: { ...faults(random), ...moreFaults(seed) },
    faultsEnd: random.pick([0, 30_000, 300_000, 1_800_000]),
    ...hotKeys(seed),
    patrol: random.chance(0.2),
  };
  return { ...scenario, outages: outages(seed, span, scenario.faults) };
};

/**
 * In every fourth schedule a producer numbers the versions of a task, and the numbers need not grow with time. In every
 * sixth schedule SQS delivers some messages minutes or hours late. Copies of one message have the same version.
 */
const outOfOrder = (seed: number, sends: Scenario['sends']): Scenario['sends'] => {
  const random = seeded(seed ^ 0x01de);
  const [hasVersions, isLate] = [random.chance(1 / 4), random.chance(1 / 6)];
  return sends.map(({ at, body }) => ({
    at,
    body: hasVersions ? withVersion(body, seed) : body,
    ...(isLate && random.chance(0.2) ? { late: random.pick([60_000, 600_000, 10_800_000]) } : {}),
  }));
};

const withVersion = (body: string, seed: number): string =>
  body.replace(/^\{"operation":"\w+","id":"(\w+)"/, (start, id: string) => {
    const random = seeded(seedOf(seed, `version of ${id}`));
    return random.chance(0.8) ? `${start},"version":${random.int(1, 4)}` : start;
  });

/** Requests that fail together in an outage: all requests to a table, or all that write the results of calls. */
const MAY_BE_DOWN: readonly (readonly string[])[] = [
  ['tasks.finish', 'tasks.touch'],
  ['tasks.'],
  ['batches.'],
  ['batches.postpone', 'batches.finish'],
  ['locks.', 'waiting.', 'operations.'],
  ['queues.'],
];

/**
 * In every fifth schedule there is an outage. It takes at most ten minutes if messages may be delivered twice: messages
 * that wait during an outage are delivered again and again, so an outage of an hour with every fifth delivery doubled
 * would yield a hundred thousand messages.
 */
const outages = (seed: number, span: Millis, { duplicate, undeleted }: FaultRates): readonly Outage[] => {
  const random = seeded(seed ^ 0x0d0e);
  if (!random.chance(0.2)) return [];
  return Array.from({ length: random.int(1, 2) }, () => {
    const from = random.int(0, span + 30_000);
    const lasts = random.pick([5_000, 60_000, 600_000, 3_600_000]);
    const most = duplicate + undeleted > 0 ? 600_000 : lasts;
    return { from, until: from + Math.min(lasts, most), of: random.pick(MAY_BE_DOWN) };
  });
};

/** In every eighth schedule a partition key has so little capacity that a few concurrent tasks are throttled. */
const hotKeys = (seed: number): Pick<Scenario, 'partitions'> => {
  const random = seeded(seed ^ 0x407);
  return random.chance(1 / 8) ? { partitions: { write: random.pick([5, 20]), read: random.pick([10, 60]) } } : {};
};

/** In every sixth schedule the rate changes. */
const rates = (seed: number, span: Millis): readonly ConfigChange[] => {
  const random = seeded(seed ^ 0x7a7e);
  if (!random.chance(1 / 6)) return [];
  return Array.from({ length: random.int(1, 3) }, () => ({
    at: random.int(0, span + 60_000),
    to: { rateLimit: random.pick([null, 0.05, 0.2, 1, 20]) },
  }));
};

/** The caps change in every eighth schedule. */
const caps = (seed: number, span: Millis, { shards }: Pick<Operation, 'shards'>): readonly ConfigChange[] => {
  const random = seeded(seed ^ 0xca95);
  return random.chance(1 / 8) ? capsChanging(random, span, shards) : [];
};

/** Caps are raised, lowered or removed. */
export const capsChanging = (random: Random, span: Millis, shards: number): readonly ConfigChange[] =>
  Array.from({ length: random.int(1, 4) }, () => {
    const total = random.pick([null, 1, 2, 3, 6]);
    const fitting = [null, 1, 2, 3, 5].filter((each) => each === null || (shards === 1 && each <= (total ?? each)));
    return { at: random.int(0, span + 60_000), to: { concurrency: { total, perTarget: random.pick(fitting) } } };
  });

/**
 * The body of a message. Most messages name their task; the other tasks are named after their SQS message. Some
 * payloads are too large for the task's row.
 */
const body = (n: number, depot: number, random: Random): string => {
  const correlationId = random.chance(0.2) ? 'c'.repeat(random.int(1, 60)) : undefined;
  const id = random.chance(0.8) ? `t${n}` : undefined;
  const payload = { depot, text: 'x'.repeat(random.int(0, 60)) };
  const wishes = {
    priority: random.chance(0.2) ? random.int(0, 9) : undefined,
    weight: random.chance(0.2) ? random.int(1, 5) : undefined,
    coalesceKey: random.chance(0.2) ? `k${random.int(1, 3)}` : undefined,
    expiresIn: random.chance(0.1) ? random.pick(['1s', '30s', '10m']) : undefined,
    callback: n % 3 === 0 ? 'ops' : undefined,
  };
  return JSON.stringify({ operation: OPERATION, id, correlationId, ...wishes, payload });
};

/** Repetitions of messages, messages that use an id for another task, and invalid register messages. */
const oddSends = (random: Random, sends: Scenario['sends']): Scenario['sends'] => {
  const again = sends
    .filter(() => random.chance(0.15))
    // The same task, as another producer might send it. The task's row would be smaller.
    .map(({ at, body }) => ({ at: at + random.int(0, 100_000), body: body.replace(/"correlationId":"c+",/, '') }));
  const conflicts = sends
    .filter(() => random.chance(0.05))
    .map(({ at, body }) => ({ at: at + random.int(0, 5_000), body: body.replace('"text":"', '"text":"other ') }));
  const unreadable = random.chance(0.3)
    ? [{ at: random.int(0, 1_000), body: random.pick(['{', '[]', '{"operation":"none","payload":{}}']) }]
    : [];
  return [...again, ...conflicts, ...unreadable];
};

const operation = (random: Random): Omit<Operation, 'downstream' | 'retry' | 'callbacks' | 'rateLimit' | 'circuit'> => {
  const maxSize = random.pick([1, 2, 3, 5, 10]);
  const window = random.chance(0.15) ? random.pick([5_000, 60_000, 1_000_000, 7_200_000]) : null;
  const perTarget = random.pick([null, null, 1, 1, 2, 3]);
  return {
    operation: OPERATION,
    keys: ['depot'],
    shards: perTarget === null ? random.pick([1, 1, 1, 2]) : 1,
    batch: {
      maxSize,
      maxBytes: random.pick([150, 400, 1_000_000]),
      maxWeight: random.pick([0, 0, 0, 5, 12]),
      maxWait: window ?? random.pick([0, 300, 1_000, 5_000, 40_000, 1_000_000, 2_500_000]),
      quietPeriod: window === null && random.chance(0.2) ? random.pick([300, 2_000, 20_000]) : 0,
      minSize: random.pick([1, 1, Math.min(3, maxSize)]),
      window,
      bypass: window !== null && random.chance(0.5) ? 110 : null,
    },
    merge: null,
    concurrency: { perTarget, total: random.pick([null, null, 1, 2, 3]) },
    keepTasks: 30 * 24 * 3_600_000,
    limits: [],
  };
};

/** How register messages are gathered, drawn from a separate random stream. */
const gathering = (seed: number): RegisterPolicy => {
  const random = seeded(seed ^ 0x6a7e);
  return random.chance(0.75)
    ? AS_THEY_COME
    : { maxMessages: random.pick([5, 30, 500]), maxWait: random.pick([1_000, 5_000]) };
};

const ops = { kind: 'queue', name: 'ops' } as const;

/** How batches are handled, drawn from a separate random stream. */
const handling = (seed: number): Pick<Operation, 'downstream' | 'retry' | 'callbacks' | 'rateLimit' | 'circuit'> => {
  const random = seeded(seed ^ 0xca11);
  const destination = (): string | null => random.pick([null, 'ops']);
  return {
    downstream: {
      ...NOWHERE,
      timeout: random.pick([1_000, 10_000]),
      deadline: random.pick([60_000, 600_000, 3_600_000]),
    },
    retry: {
      immediate: random.int(0, 2),
      maxAttempts: random.int(1, 5),
      minDelay: 1_000,
      maxDelay: random.pick([5_000, 300_000, 2_000_000]),
      bisect: random.chance(0.8),
      isolate: seeded(seed ^ 0x150a).chance(0.8),
    },
    callbacks: { failed: destination(), succeeded: destination() },
    rateLimit: random.pick([null, null, null, 0.2, 1, 20]),
    circuit: random.chance(0.3) ? { failures: random.int(1, 5), coolDown: random.pick([1_000, 30_000]) } : null,
  };
};
