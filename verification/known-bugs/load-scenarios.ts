/** Scenarios with a high load of one kind: many slots, Targets, inputs or tasks. */

import type { Concurrency } from '../../src/domain/config/policies.ts';
import type { Target } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { Scenario } from '../batches/scenario.ts';
import { many, only } from './moment-scenarios.ts';

/** Three Targets have more tasks each than their cap allows at once, and the cap needs several pages of slots. */
const capOf =
  (concurrency: Concurrency) =>
  (scenario: Scenario): Partial<Scenario> =>
    only(
      scenario,
      many(24, (n) => ({ at: n * 20, depot: n % 3 })),
      () => ({ concurrency }),
    );
export const manySlots = capOf({ perTarget: null, total: 5 });
export const manySlotsOfATarget = capOf({ perTarget: 5, total: null });

/** Slots are held for minutes, and the requests of the sweep are slow. */
export const slowSweeps = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(80, (depot) => ({ at: 0, depot })),
    ({ retry }) => ({
      concurrency: { perTarget: null, total: 80 },
      retry: { ...retry, immediate: 0, maxAttempts: 2, minDelay: 600_000, maxDelay: 600_000 },
    }),
  ),
  slowSweep: 5_000,
});

/** Targets are paused while their batches wait for the next attempt, and other Targets wait for a slot. */
export const pausedWhileWaiting = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(20, (depot) => ({ at: depot, depot })),
    ({ retry }) => ({
      concurrency: { perTarget: null, total: 2 },
      retry: { ...retry, immediate: 0, maxAttempts: 5, minDelay: 5_000, maxDelay: 5_000 },
    }),
  ),
  pauses: many(10, (depot) => ({ at: 500 + depot * 600, lasts: 300_000, of: `ship/depot=${depot}` as Target })),
});

/** Messages are lost while Targets are woken, and a hundred other Targets wait for slots that are held for long. */
export const forgottenAmongMany = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(150, (depot) => ({ at: 0, depot })),
    ({ retry }) => ({
      concurrency: { perTarget: null, total: 12 },
      retry: { ...retry, immediate: 0, maxAttempts: 2, minDelay: 900_000, maxDelay: 900_000 },
    }),
  ),
  patrol: true,
  purges: [7_000, 8_500, 10_000],
});

/** Two requests of one Target. Each has more than half of the inputs that a job may have. */
export const manyInputs = (scenario: Scenario): Partial<Scenario> => ({
  ...only(scenario, [], ({ batch, concurrency, retry }) => ({
    batch: { ...batch, maxSize: 5, maxWait: 1_000 },
    merge: { keys: 'inputs[].id' },
    retry: { ...retry, maxAttempts: 10 },
    concurrency: { ...concurrency, perTarget: 1 },
  })),
  sends: many(2, (n) => {
    const inputs = many(1_500, (each) => ({ id: 1_500 * n + each }));
    return { at: n, body: JSON.stringify({ id: `m${n}`, operation: 'ship', payload: { depot: 1, inputs } }) };
  }),
});

/**
 * Tasks of one Target arrive faster than the Target's leader batches them. Tasks of other Targets arrive a moment
 * later. Only one function runs at a time.
 */
export const busyTarget = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    [...many(150, (n) => ({ at: n * 100, depot: 0 })), ...many(3, (n) => ({ at: 2_000 + n, depot: 1 + n }))],
    ({ batch }) => ({ batch: { ...batch, maxSize: 10, maxWait: 600 } }),
  ),
  functionsAtOnce: 1,
  slack: 8_000,
});

/**
 * Tasks fill the batches of several sleeping leaders at once while the operation is paused. More tasks arrive after the
 * pause.
 */
export const pausedAsBatchesOpen = (scenario: Scenario): Partial<Scenario> => {
  const fill = 3_000;
  return {
    ...only(
      scenario,
      many(20, (depot) => [
        { at: 0, depot },
        ...many(5, () => ({ at: fill + ((depot * 31 + scenario.seed * 17) % 200), depot })),
        ...many(16, () => ({ at: fill + 20_000, depot })),
      ]).flat(),
      ({ batch, retry }) => ({
        batch: { ...batch, maxSize: 2, maxWait: 40_000 },
        concurrency: { perTarget: 3, total: null },
        retry: { ...retry, immediate: 0, maxAttempts: 5, minDelay: 600_000, maxDelay: 600_000 },
      }),
    ),
    pauses: [{ at: fill + 300, lasts: 10_000, of: 'ship' as never }],
  };
};

/** Two Targets have more tasks than two slots can process, and two other Targets have a task now and then. */
export const twoBusyTargets = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    [
      ...many(2, (depot) => many(100, (n) => ({ at: n * 100, depot }))).flat(),
      ...many(2, (n) => many(2, (time) => ({ at: 2_000 + time * 8_000, depot: 2 + n }))).flat(),
    ],
    ({ retry, downstream }) => ({
      concurrency: { perTarget: 1, total: 2 },
      retry: { ...retry, maxAttempts: 1, bisect: false },
      downstream: { ...downstream, timeout: 1_000, deadline: 60_000 },
    }),
  );

/**
 * Four Targets have more tasks than two slots can process. Functions stand still between reading a message and their
 * next write.
 */
export const waitingAgain = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(80, (n) => ({ at: n * 50, depot: n % 4 })),
    ({ batch, retry }) => ({
      batch: { ...batch, maxSize: 1, maxWait: 0 },
      concurrency: { perTarget: 1, total: 2 },
      retry: { ...retry, immediate: 0, maxAttempts: 1, bisect: false },
    }),
  ),
  faults: { ...NO_FAULTS, overtaken: 0.1 },
  faultsEnd: 600_000,
});

/** One Target has more tasks than its cap can process, and then gets another cap. */
export const changedCap =
  (before: number, after: number | null) =>
  (scenario: Scenario): Partial<Scenario> => ({
    ...only(
      scenario,
      many(60, (n) => ({ at: n * 50, depot: 1 })),
      ({ batch, retry }) => ({
        batch: { ...batch, maxSize: 1, maxWait: 0 },
        concurrency: { perTarget: before, total: null },
        retry: { ...retry, immediate: 0, maxAttempts: 3, minDelay: 5_000, maxDelay: 20_000 },
      }),
    ),
    changes: [{ at: 10_000 + 100 * (scenario.seed % 50), to: { concurrency: { perTarget: after, total: null } } }],
  });

/** Many Targets share slots that batches hold for minutes, and then the number of slots is lowered. */
export const loweredTotal = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(60, (n) => ({ at: n * 30_000, depot: n })),
    ({ batch, retry }) => ({
      batch: { ...batch, maxSize: 1, maxWait: 0 },
      concurrency: { perTarget: null, total: 6 },
      retry: { ...retry, immediate: 0, maxAttempts: 8, minDelay: 100_000, maxDelay: 300_000 },
    }),
  ),
  changes: [{ at: 300_000, to: { concurrency: { perTarget: null, total: 2 } } }],
});
