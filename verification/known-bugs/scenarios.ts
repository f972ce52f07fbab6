/**
 * Scenarios for bugs that few of the usual scenarios show. Each function changes a usual scenario so that the bug is
 * likely to matter.
 */
import type { Config } from '../../src/domain/config/resolved.ts';
import type { LimitName, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario } from '../batches/scenario.ts';
import { withoutPolicies } from '../batches/without-policies.ts';

/** A weight that DynamoDB refuses, because its magnitude is too small. */
export const TINY = 1e-200;
const SHIP = 'ship' as OperationName;
const HOUR = 3_600_000;

// No faults, because promises about time are checked only in schedules without faults, or with faults that must not
// have any effect.
export const withoutFaults = () => ({ faults: NO_FAULTS });
/** Without faults, and without anything that tasks may wait for: caps, circuits, rates and pauses. */
export const withoutFaultsAndLimits = (scenario: Scenario) => ({ ...withoutPolicies(scenario), faults: NO_FAULTS });
export const requestsAreRepeated = () => ({ faults: { ...NO_FAULTS, repeat: 0.05 } });
/** A flush soon after every message, because flushes matter while a lock changes hands. */
export const manyFlushes = ({ sends, config }: Scenario) => ({
  faults: NO_FAULTS,
  config: withOperations(config, () => ({ limits: [], rateLimit: null })),
  changes: [],
  flushes: sends.flatMap(({ at, body }, n) => {
    const depot = /"depot":(\d+)/.exec(body)?.[1];
    return depot ? [{ at: at + ((n * 37) % 150), target: `ship/depot=${depot}` as Target }] : [];
  }),
});
/** Handlers are paused while failed tasks are redriven. */
export const manyRedrives = ({ faults }: Scenario) => ({
  faults: { ...faults, pause: 0.05 },
  redrives: Array.from({ length: 40 }, (_, n) => ({ at: n * 20_000, times: 1 })),
});
/** The task that fills a Target's batch arrives at about the time when the first leader takes the lock. */
export const fullWhileElected = (scenario: Scenario) => {
  const { seed, sends, config } = withoutPolicies(scenario);
  const policy = { maxSize: 2, maxBytes: 1_000_000, maxWait: 40_000 };
  return {
    faults: NO_FAULTS,
    flushes: [],
    cancels: [],
    pauses: [],
    config: withOperations(config, ({ batch }) => ({ shards: 1, batch: { ...batch, ...policy } })),
    sends: sends.map(({ body }, n) => ({
      at: Math.floor(n / 2) * 1_000 + (n % 2) * ((n * 37 + seed * 13) % 200),
      body: body.replace(/"depot":\d/, `"depot":${1 + Math.floor(n / 2)}`),
    })),
  };
};
/** Functions die so often that messages become dead letters, and all tasks have one of three coalesceKeys. */
export const manyDeadLetters = ({ faults, sends }: Scenario) => ({
  faults: { ...faults, crash: 0.3 },
  faultsEnd: 1_800_000,
  sends: sends.map((each, n) => ({ ...each, body: each.body.replace(/^{/, `{"coalesceKey":"k${n % 3}",`) })),
});

/** Leaders die, and all tasks of a Target have the same coalesceKey. */
export const oneKey = ({ faults, sends }: Scenario) => ({
  faults: { ...faults, crash: 0.05 },
  sends: sends.map(({ at, body }) => ({
    at,
    body: body.includes('coalesceKey') ? body : body.replace(/^{/, '{"coalesceKey":"k1",'),
  })),
});

/** Some messages have a weight that DynamoDB refuses. */
export const tinyWeights = ({ sends }: Scenario) => ({
  sends: sends.map(({ at, body }, n) => ({
    at,
    body: n % 5 > 0 || body.includes('"weight"') ? body : body.replace(/^{/, `{"weight":${TINY},`),
  })),
});

/**
 * One Target has so many tasks that its leaders hand over several times, within less time than the write of a hand-over
 * takes.
 */
export const sustained = (scenario: Scenario) => {
  const { config, sends } = withoutPolicies(scenario);
  const policy = { maxSize: 3, maxBytes: 1_000_000, maxWait: 300 };
  return {
    faults: { ...NO_FAULTS, overtaken: 0.5 },
    flushes: [],
    cancels: [],
    pauses: [],
    redrives: [],
    config: withOperations(config, ({ batch }) => ({ shards: 1, batch: { ...batch, ...policy } })),
    sends: Array.from({ length: 100 }, (_, n) => ({
      at: n * 150,
      body: `{"id":"s${n}","operation":"ship","payload":{"depot":1}}`,
    })).slice(0, 20 + 2 * sends.length),
  };
};

type Limit = Config['limits'][LimitName];

/** Sixty batches of twelve Targets under one limit, without anything else that tasks may wait for. */
export const underLimit =
  (limit: Partial<Limit>, meanwhile: Partial<Scenario> = {}) =>
  (scenario: Scenario): Partial<Scenario> => {
    const { config } = withoutPolicies(scenario);
    return {
      faults: NO_FAULTS,
      outages: [],
      flushes: [],
      cancels: [],
      pauses: [],
      redrives: [],
      changes: [],
      config: {
        ...withOperations(config, ({ batch }) => ({
          shards: 1,
          batch: { ...batch, maxSize: 1 },
          limits: ['vendor' as LimitName],
        })),
        limits: { ['vendor' as LimitName]: { ...NO_LIMIT, ...limit } },
      },
      sends: Array.from({ length: 60 }, (_, n) => ({
        at: n * 100,
        body: `{"id":"l${n}","operation":"ship","payload":{"depot":${n % 12}}}`,
      })),
      ...meanwhile,
    };
  };

const NO_LIMIT: Limit = {
  calls: null,
  weight: null,
  per: 1_000,
  burst: 1,
  key: null,
  concurrency: { calls: null, weight: null },
};

/** Batch handlers stand still, some of them just before their call. */
export const suspendedUnderLimit = underLimit({ calls: 1 }, { faults: { ...NO_FAULTS, pause: 0.02 }, faultsEnd: HOUR });

/** Two calls may be in progress at once, and attempts make several calls. */
export const inProgressUnderLimit = underLimit({ calls: 20, concurrency: { calls: 2, weight: null } });

/** An operation is paused before tasks arrive for more Targets than are woken at once, and is resumed after a sweep. */
export const manyTargetsBlocked = (scenario: Scenario) => ({
  ...withoutPolicies(scenario),
  faults: NO_FAULTS,
  outages: [],
  flushes: [],
  redrives: [],
  pauses: [{ at: 0, lasts: 61_000, of: 'ship' as OperationName }],
  config: withOperations(withoutPolicies(scenario).config, ({ batch }) => ({
    shards: 1,
    batch: { ...batch, maxSize: 1 },
  })),
  sends: Array.from({ length: 120 }, (_, n) => ({
    at: 1_000 + n * 200,
    body: `{"id":"b${n}","operation":"ship","payload":{"depot":${n}}}`,
  })),
});

/** An operation is paused for an hour and a half, and functions die meanwhile. */
export const pausedForLong = (scenario: Scenario) => ({
  ...withoutPolicies(scenario),
  faults: { ...NO_FAULTS, crash: 0.05 },
  faultsEnd: 2 * HOUR,
  outages: [],
  flushes: [],
  redrives: [],
  pauses: [{ at: 20_000, lasts: 1.5 * HOUR, of: SHIP }],
  config: withOperations(withoutPolicies(scenario).config, ({ batch }) => ({
    shards: 1,
    batch: { ...batch, maxWait: 1_000 },
  })),
});

/** Writes of results to one table fail again and again for a while. */
export const repeatedOutages = (scenario: Scenario) => {
  const of = scenario.seed % 2 === 0 ? ['tasks.finish', 'tasks.touch'] : ['batches.postpone', 'batches.finish'];
  return {
    ...withoutPolicies(scenario),
    faults: NO_FAULTS,
    flushes: [],
    redrives: [],
    outages: Array.from({ length: 10 }, (_, n) => ({ from: n * 60_000, until: n * 60_000 + 45_000, of })),
  };
};

/** Every operation has a cap, and leaders die. */
export const capped = ({ config, faults }: Scenario) => ({
  faults: { ...faults, crash: 0.05, duplicate: 0.3 },
  config: withOperations(config, () => ({ concurrency: { perTarget: null, total: 1 } })),
});
/**
 * A cap is added while batches wait for their next attempt. More tasks arrive later, when every running function uses
 * the cap.
 */
export const capAddedLate = ({ config, sends }: Scenario) => ({
  faults: NO_FAULTS,
  changes: [{ at: 180_000, to: { concurrency: { total: null, perTarget: 1 } } }],
  config: withOperations(config, ({ batch, retry }) => ({
    shards: 1,
    batch: { ...batch, maxWait: 1_000, window: null },
    retry: { ...retry, immediate: 0, maxAttempts: 5, minDelay: 1_800_000, maxDelay: 1_800_000 },
    circuit: null,
    rateLimit: null,
    concurrency: { total: null, perTarget: null },
  })),
  sends: sends.map((each, n) => ({ ...each, at: n % 2 === 0 ? n * 1_000 : 900_000 + n * 10_000 })),
});

/** Half of the tasks expire within one second, while leaders sleep for long. */
export const manyExpiries = ({ sends, config }: Scenario) => ({
  faults: NO_FAULTS,
  flushes: [],
  changes: [],
  pauses: [],
  config: withOperations(config, ({ batch }) => ({
    shards: 1,
    limits: [],
    rateLimit: null,
    concurrency: { perTarget: null, total: null },
    batch: { ...batch, maxSize: 10, maxWait: 40_000, window: null, quietPeriod: 0 },
  })),
  sends: sends.map(({ body }, n) => ({
    at: n * 97,
    body: body
      .replace(/"depot":\d/, `"depot":${1 + Math.floor(n / 2)}`)
      .replace(/^{/, n % 2 ? '{"expiresIn":"1s",' : '{'),
  })),
});

/**
 * All tasks have the same coalesceKey, and every other task expires. Their waiting rows remain for a while, and failed
 * tasks are redriven meanwhile.
 */
export const rowsOutliveTheirTasks = (scenario: Scenario) => {
  const { config, sends } = withoutPolicies(scenario);
  return {
    faults: NO_FAULTS,
    flushes: [],
    cancels: [],
    pauses: [],
    outages: [{ from: 500, until: 60_000, of: ['waiting.remove'] }],
    redrives: [3_000, 9_000, 30_000].map((at) => ({ at, times: 1 })),
    config: withOperations(config, ({ batch }) => ({ shards: 1, batch: { ...batch, maxSize: 10, maxWait: 40_000 } })),
    sends: sends.slice(0, 6).map((_, n) => ({
      at: n * 4_000,
      body: JSON.stringify({
        operation: 'ship',
        id: `t${n}`,
        coalesceKey: 'k',
        ...(n % 2 === 0 ? { expiresIn: '1s' } : {}),
        payload: { depot: 1 },
      }),
    })),
  };
};

/**
 * Tasks of a paused operation are cancelled, and functions die meanwhile. Hours later the tasks have expired, their
 * waiting rows may still exist, and tasks of other Targets use the same ids.
 */
export const idsReused = (scenario: Scenario) => {
  const ids = Array.from({ length: 5 + (scenario.seed % 20) }, (_, n) => `a${n}` as TaskId);
  const sentAt = (at: number, depot: number) =>
    ids.map((id, n) => ({ at: at + n * 90, body: JSON.stringify({ id, operation: SHIP, payload: { depot } }) }));
  const { config, ...rest } = withoutPolicies(scenario);
  return {
    ...rest,
    config: withOperations(config, () => ({ shards: 1 })),
    faults: { ...NO_FAULTS, crash: 0.1 },
    faultsEnd: HOUR,
    outages: [],
    flushes: [],
    redrives: [],
    pauses: [
      { at: 0, lasts: 4 * HOUR, of: SHIP },
      // The Target is paused for longer, so that the remaining rows are read first.
      { at: 3.5 * HOUR, lasts: HOUR, of: `${SHIP}/depot=2` as Target },
    ],
    sends: [...sentAt(1_000, 1), ...sentAt(3 * HOUR, 2)],
    cancels: ids.map((id, n) => ({ at: 30_000 + n * 1_000, id })),
    expiries: [2 * HOUR],
  };
};
