/** Which schedules show a bug that few of the usual ones do: what happens is drawn towards it. */
import type { Millis, OperationName, Target, TaskId } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario } from '../batches/scenario.ts';
import { plain } from '../batches/without-policies.ts';

/** A weight that no table holds. */
export const TINY = 1e-200;
const SHIP = 'ship' as OperationName;
const HOUR = 3_600_000;

// Promises about time are made for schedules where nothing goes wrong, or nothing that may be noticed.
export const nothingGoesWrong = () => ({ faults: NO_FAULTS });
/** Nor does anything wait for others: no caps, no circuit, no rate, no pause. */
export const nobodyWaits = (scenario: Scenario) => ({ ...plain(scenario), faults: NO_FAULTS });
export const requestsAreRepeated = () => ({ faults: { ...NO_FAULTS, repeat: 0.05 } });
/** A flush soon after every message: they matter while a lock changes hands. */
export const manyFlushes = ({ sends }: Scenario) => ({
  faults: NO_FAULTS,
  flushes: sends.flatMap(({ at, body }, n) => {
    const depot = /"depot":(\d+)/.exec(body)?.[1];
    return depot ? [{ at: at + ((n * 37) % 150), target: `ship/depot=${depot}` as Target }] : [];
  }),
});
/** Handlers that sleep while somebody redrives what failed. */
export const manyRedrives = ({ faults }: Scenario) => ({
  faults: { ...faults, pause: 0.05 },
  redrives: Array.from({ length: 40 }, (_, n) => ({ at: n * 20_000, times: 1 })),
});
/** The task that fills a Target's batch comes about when that Target's first leader takes the lock. */
export const fullWhileElected = (scenario: Scenario) => {
  const { seed, sends, config } = plain(scenario);
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
/** Functions die so often that messages become dead letters, and all tasks have one of three keys. */
export const manyDeadLetters = ({ faults, sends }: Scenario) => ({
  faults: { ...faults, crash: 0.3 },
  faultsEnd: 1_800_000,
  sends: sends.map((each, n) => ({ ...each, body: each.body.replace(/^{/, `{"coalesceKey":"k${n % 3}",`) })),
});

/** Leaders die, and of what they leave all tasks of a Target have one key. */
export const oneKey = ({ faults, sends }: Scenario) => ({
  faults: { ...faults, crash: 0.05 },
  sends: sends.map(({ at, body }) => ({
    at,
    body: body.includes('coalesceKey') ? body : body.replace(/^{/, '{"coalesceKey":"k1",'),
  })),
});

/** Some messages have a weight that no table holds. */
export const tinyWeights = ({ sends }: Scenario) => ({
  sends: sends.map(({ at, body }, n) => ({
    at,
    body: n % 5 > 0 || body.includes('"weight"') ? body : body.replace(/^{/, `{"weight":${TINY},`),
  })),
});

/** One Target with so much to do that its leaders hand over several times, quicker than they can write that they do. */
export const sustained = (scenario: Scenario) => {
  const { config, sends } = plain(scenario);
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

/** A hundred batches at a call in twenty seconds, and what happens meanwhile. */
export const inLine =
  (meanwhile: Partial<Scenario>, comesLater: readonly Millis[] = []) =>
  (scenario: Scenario): Partial<Scenario> => {
    const { config } = plain(scenario);
    const at = [...Array.from({ length: 100 }, (_, n) => n * 100), ...comesLater];
    return {
      faults: NO_FAULTS,
      outages: [],
      flushes: [],
      cancels: [],
      pauses: [],
      redrives: [],
      changes: [],
      config: withOperations(config, ({ batch }) => ({
        shards: 1,
        batch: { ...batch, maxSize: 1 },
        rateLimit: 0.05,
      })),
      sends: at.map((at, n) => ({ at, body: `{"id":"l${n}","operation":"ship","payload":{"depot":1}}` })),
      ...meanwhile,
    };
  };

/** Somebody pauses an operation before tasks for more Targets come than are woken at once, and resumes it after a sweep. */
export const manyAreBlocked = (scenario: Scenario) => ({
  ...plain(scenario),
  faults: NO_FAULTS,
  outages: [],
  flushes: [],
  redrives: [],
  pauses: [{ at: 0, lasts: 61_000, of: 'ship' as OperationName }],
  config: withOperations(plain(scenario).config, ({ batch }) => ({ shards: 1, batch: { ...batch, maxSize: 1 } })),
  sends: Array.from({ length: 120 }, (_, n) => ({
    at: 1_000 + n * 200,
    body: `{"id":"b${n}","operation":"ship","payload":{"depot":${n}}}`,
  })),
});

/** An operation is paused for an hour and a half, and functions die all the while. */
export const heldForLong = (scenario: Scenario) => ({
  ...plain(scenario),
  faults: { ...NO_FAULTS, crash: 0.05 },
  faultsEnd: 2 * HOUR,
  outages: [],
  flushes: [],
  redrives: [],
  pauses: [{ at: 20_000, lasts: 1.5 * HOUR, of: SHIP }],
  config: withOperations(plain(scenario).config, ({ batch }) => ({ shards: 1, batch: { ...batch, maxWait: 1_000 } })),
});

/** The table of tasks, or that of batches, takes no writes of results for a while, again and again. */
export const tablesComeAndGo = (scenario: Scenario) => {
  const of = scenario.seed % 2 === 0 ? ['tasks.finish', 'tasks.touch'] : ['batches.postpone', 'batches.finish'];
  return {
    ...plain(scenario),
    faults: NO_FAULTS,
    flushes: [],
    redrives: [],
    outages: Array.from({ length: 10 }, (_, n) => ({ from: n * 60_000, until: n * 60_000 + 45_000, of })),
  };
};

/** Every operation has a cap, and leaders come and go. */
export const capped = ({ config, faults }: Scenario) => ({
  faults: { ...faults, crash: 0.05, duplicate: 0.3 },
  config: withOperations(config, () => ({ concurrency: { perTarget: null, total: 1 } })),
});
/** A cap comes while batches wait for their next attempt, and tasks come when no function is left that knows of no cap. */
export const capsComeLate = ({ config, sends }: Scenario) => ({
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

/** Half of what comes expires in a second, where leaders sleep for long. */
export const muchExpires = ({ sends, config }: Scenario) => ({
  faults: NO_FAULTS,
  flushes: [],
  pauses: [],
  config: withOperations(config, ({ batch }) => ({
    shards: 1,
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

/** Tasks of one key, of which every other one expires; their rows stay for a while, and what failed is redriven meanwhile. */
export const rowsOutliveTheirTasks = (scenario: Scenario) => {
  const { config, sends } = plain(scenario);
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
 * Somebody cancels tasks of a paused operation, and functions die amid that. Hours later the tasks have expired, their waiting
 * rows may be there still, and tasks of other Targets get their ids.
 */
export const idsAreUsedAgain = (scenario: Scenario) => {
  const ids = Array.from({ length: 5 + (scenario.seed % 20) }, (_, n) => `a${n}` as TaskId);
  const sentAt = (at: number, depot: number) =>
    ids.map((id, n) => ({ at: at + n * 90, body: JSON.stringify({ id, operation: SHIP, payload: { depot } }) }));
  const { config, ...rest } = plain(scenario);
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
      // So that the rows that are left behind are looked at first.
      { at: 3.5 * HOUR, lasts: HOUR, of: `${SHIP}/depot=2` as Target },
    ],
    sends: [...sentAt(1_000, 1), ...sentAt(3 * HOUR, 2)],
    cancels: ids.map((id, n) => ({ at: 30_000 + n * 1_000, id })),
    expiries: [2 * HOUR],
  };
};
