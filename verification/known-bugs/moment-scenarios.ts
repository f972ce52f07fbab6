/** Scenarios of a few tasks that are sent at one critical moment, for bugs that show only at that moment. */

import type { Operation } from '../../src/domain/config/resolved.ts';
import type { Millis, TaskId } from '../../src/domain/ids.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { withOperations } from '../batches/configurations.ts';
import type { Scenario } from '../batches/scenario.ts';
import { withoutPolicies } from '../batches/without-policies.ts';

/** A task of a Target, with the options of its producer. */
interface Sent {
  readonly at: Millis;
  readonly depot: number;
  readonly expiresIn?: string;
  readonly callback?: string;
}

/** A scenario of only these tasks, without faults. Batches contain one task unless the operation says otherwise. */
export const only = (
  scenario: Scenario,
  sent: readonly Sent[],
  change: (operation: Operation) => Partial<Operation> = () => ({}),
): Partial<Scenario> => ({
  config: withOperations(withoutPolicies(scenario).config, (operation) => {
    const batch = { ...operation.batch, maxSize: 1, maxBytes: 1_000_000, maxWait: 0 };
    return { shards: 1, batch, ...change({ ...operation, batch }) };
  }),
  sends: sent.map(({ at, ...task }, n) => ({ at, body: bodyOf(n, task) })),
  faults: NO_FAULTS,
  outages: [],
  flushes: [],
  cancels: [],
  pauses: [],
  changes: [],
  redrives: [],
});

const bodyOf = (n: number, { depot, ...requests }: Omit<Sent, 'at'>): string =>
  JSON.stringify({ id: `n${n}`, operation: 'ship', ...requests, payload: { depot } });

/** An array of `count` elements. */
export const many = <T>(count: number, each: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => each(n));

/** The second of two tasks of a Target arrives about when the leader of the first one releases the lock. */
export const registeredAtRelease = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(20, (depot) => [
      { at: 0, depot },
      { at: 200 + ((depot * 41 + scenario.seed * 17) % 400), depot },
    ]).flat(),
  );

/** Leaders sleep, are woken by the task that fills their batch, and finish when two more tasks arrive. */
export const filledAgainAtOnce = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(20, (depot) => {
      const again = 1_200 + ((depot * 29 + scenario.seed * 13) % 300);
      return [0, 1_000, again, again].map((at) => ({ at, depot }));
    }).flat(),
    ({ batch }) => ({ batch: { ...batch, maxSize: 2, maxWait: 40_000 } }),
  );

/** Tasks that do not fill a batch. */
export const fewTasks = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(3, (depot) => ({ at: 0, depot })),
    ({ batch }) => ({ batch: { ...batch, maxSize: 10, maxWait: 1_000 } }),
  );

/** Every other task expires while its Target waits for the only slot. */
export const expiredWhileWaiting = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(10, (depot) => ({ at: depot * 50, depot, ...(depot % 2 === 1 ? { expiresIn: '1s' } : {}) })),
    () => ({ concurrency: { perTarget: null, total: 1 } }),
  );

/** The queues are purged while the only task of a Target waits for a leader. */
export const purgedWhileElected = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(8, (depot) => ({ at: depot * 2_000, depot })),
  ),
  patrol: true,
  purges: many(8, (n) => n * 2_000 + 60 + ((n * 29 + scenario.seed * 13) % 120)),
});

/** Batches of two tasks. Their jobs report each task soon, and both tasks at nearly the same time. */
export const reportedTogether = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(120, (n) => ({ at: 0, depot: n % 60 })),
    ({ batch, downstream, retry }) => ({
      batch: { ...batch, maxSize: 2, maxWait: 10_000 },
      downstream: { ...downstream, timeout: 1_000, deadline: 30_000 },
      retry: { ...retry, immediate: 0, maxAttempts: 5 },
    }),
  );

/** Calls that take long, in batches whose messages are delivered again and again. */
export const longCalls = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(20, (n) => ({ at: 0, depot: n % 4 })),
    ({ batch, downstream, retry }) => ({
      batch: { ...batch, maxSize: 5 },
      downstream: { ...downstream, timeout: 10_000 },
      retry: { ...retry, immediate: 2, maxAttempts: 3, bisect: true },
    }),
  ),
  faults: { ...NO_FAULTS, duplicate: 0.8 },
});

/**
 * Targets wait for the only slot. Each message is delivered as often as possible, and some functions die. A guard whose
 * function dies at the last delivery is not delivered again.
 */
export const guardsRedelivered = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(10, (depot) => ({ at: depot * 100, depot })),
    ({ downstream, retry }) => ({
      concurrency: { perTarget: null, total: 1 },
      downstream: { ...downstream, timeout: 1_000 },
      retry: { ...retry, immediate: 0, maxAttempts: 1 },
    }),
  ),
  faults: { ...NO_FAULTS, crash: 0.05, duplicate: 1 },
  faultsEnd: 150_000,
});

/**
 * Tasks expire while their operation is paused. The functions that settle them die, and the failed tasks are redriven
 * soon.
 */
export const expiredAndRedriven = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(10, (depot) => ({ at: depot * 50, depot, expiresIn: '1s', callback: 'ops' })),
    ({ batch }) => ({ batch: { ...batch, maxSize: 10, maxWait: 40_000 } }),
  ),
  redrives: many(60, (n) => ({ at: 1_000 + n * 200, times: 1 })),
  faults: { ...NO_FAULTS, crash: 0.1 },
  faultsEnd: 20_000,
});

/** Every other task is cancelled while its Target waits for the only slot. */
export const cancelledWhileWaiting = (scenario: Scenario): Partial<Scenario> => ({
  ...only(
    scenario,
    many(10, (depot) => ({ at: depot * 50, depot })),
    () => ({ concurrency: { perTarget: null, total: 1 } }),
  ),
  cancels: many(5, (n) => ({ at: 700 + n * 10, id: `n${2 * n + 1}` as TaskId })),
});

/**
 * Several tasks of a Target arrive at once, each with an elect message. One of the elect messages is handled when a
 * leader already exists.
 */
export const severalElected = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(60, (n) => ({ at: ((n * 31 + scenario.seed * 7) % 40) + 2_000 * (n % 3), depot: n % 4 })),
    ({ batch }) => ({ batch: { ...batch, maxSize: 10, maxWait: 3_000 } }),
  );

/** The downstream fails now and then and opens the circuit, while tasks of many Targets arrive. */
export const circuitOpens = (scenario: Scenario): Partial<Scenario> =>
  only(
    scenario,
    many(40, (depot) => ({ at: depot * 500, depot })),
    ({ retry }) => ({
      circuit: { failures: 1, coolDown: 5_000 },
      retry: { ...retry, immediate: 0, maxAttempts: 5 },
    }),
  );

/** Tasks with large payloads are cancelled while they are registered, and then redriven. Functions die. */
export const cancelledAtOnce = (scenario: Scenario): Partial<Scenario> => {
  const text = 'x'.repeat(2_000);
  return {
    ...only(scenario, []),
    sends: many(30, (n) => ({
      at: n * 100,
      body: JSON.stringify({ id: `n${n}`, operation: 'ship', payload: { depot: n, text } }),
    })),
    cancels: many(30, (n) => ({ at: n * 100 + ((n * 7 + scenario.seed * 3) % 60), id: `n${n}` as TaskId })),
    redrives: many(5, (n) => ({ at: 10_000 + n * 10_000, times: 1 })),
    faults: { ...NO_FAULTS, crash: 0.05 },
    faultsEnd: 60_000,
  };
};
