/** Schedules of operations that share limits, in virtual time, with a downstream that accepts every call. */
import { AS_THEY_COME, type Config, type Operation } from '../../src/domain/config/resolved.ts';
import type { LimitName, Millis, OperationName } from '../../src/domain/ids.ts';
import { type FaultRates, NO_FAULTS } from '../../src/virtual/faults.ts';
import { configOf } from '../../verification/batches/configurations.ts';
import { largeScenarioOf } from '../../verification/batches/large-scenario.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { type Report, runSchedule } from '../../verification/batches/schedule.ts';

/** A limit, with the values that a test leaves out. */
const aLimit = (some: Partial<Config['limits'][LimitName]>): Config['limits'][LimitName] => ({
  calls: null,
  weight: null,
  per: 1_000,
  burst: 1,
  key: null,
  concurrency: { calls: null, weight: null },
  ...some,
});

export interface Plan {
  readonly limits: Readonly<Record<string, Partial<Config['limits'][LimitName]>>>;
  /** The operations, and the limits that each of them names. */
  readonly operations: Readonly<Record<string, Partial<Operation> & { readonly limits: readonly LimitName[] }>>;
  /** Tasks, in any order. */
  readonly tasks: readonly {
    readonly at: Millis;
    readonly operation: string;
    readonly depot: string;
    readonly weight?: number;
  }[];
  readonly faults?: FaultRates;
  readonly seed?: number;
  readonly more?: Partial<Scenario>;
}

const EVER = Number.MAX_SAFE_INTEGER;

const scenarioOf = ({ limits, operations, tasks, faults = NO_FAULTS, seed = 1, more = {} }: Plan): Scenario => {
  const base = largeScenarioOf(1);
  const [some] = Object.values(base.config.operations) as [Operation];
  const config = configOf(
    AS_THEY_COME,
    Object.fromEntries(
      Object.entries(operations).map(([name, change]) => [
        name,
        {
          ...some,
          operation: name as OperationName,
          keys: ['depot'],
          shards: 1,
          rateLimit: null,
          circuit: null,
          concurrency: { perTarget: null, total: null },
          retry: { ...some.retry, maxAttempts: 5, maxDelay: 5_000 },
          batch: { ...some.batch, maxSize: 10, maxWait: 1_000 },
          ...change,
        },
      ]),
    ),
  );
  return {
    ...base,
    seed,
    config: {
      ...config,
      limits: Object.fromEntries(Object.entries(limits).map(([name, some]) => [name, aLimit(some)])),
    },
    sends: tasks.map(({ at, operation, depot, weight }, n) => ({
      at,
      body: JSON.stringify({ id: `t${n}`, operation, payload: { depot }, ...(weight ? { weight } : {}) }),
    })),
    pauses: [],
    redrives: [],
    faults,
    faultsEnd: 120_000,
    patrol: false,
    slack: EVER,
    poison: { prefix: 'none', how: 'answers 500', until: 0, promises: 'none' },
    ...more,
  };
};

/** Runs a plan. @throws the first broken promise */
export const run = async (plan: Plan): Promise<Report> => {
  const { functionsAtOnce: _, ...scenario } = scenarioOf(plan);
  const report = await runSchedule(scenario);
  if (report.violation) throw report.violation;
  return report;
};
