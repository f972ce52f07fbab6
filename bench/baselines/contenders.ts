/** The contenders of the comparison. All of them run the same schedules. */
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import { withOperations } from '../../verification/batches/configurations.ts';
import type { Scenario } from '../../verification/batches/scenario.ts';
import { scenarioOf } from '../../verification/batches/usual-scenario.ts';
import { runOurs } from './ours.ts';
import { comparable, NOTHING, type Outcome, sum } from './outcome.ts';
import { NO_LAG, PUBLISHED, type Reading, seldomUpTo } from './published/reading.ts';
import { runPublished } from './published.ts';

export interface Contender {
  readonly name: string;
  readonly run: (scenario: Scenario) => Promise<Outcome>;
}

const published = (name: string, change: Partial<Reading> = {}): Contender => ({
  name: `published${name}`,
  run: (scenario) => runPublished(scenario, { ...PUBLISHED, ...change }),
});

const withoutFaults = ({ name, run }: Contender): Contender => ({
  name: `${name}; no faults`,
  run: (scenario) => run({ ...scenario, faults: NO_FAULTS }),
});

const ours: Contender = { name: 'Groupage', run: runOurs };

/**
 * Only `published` has an index that lags by up to 3 s. The names of the other contenders say how they differ from
 * `published`.
 */
export const CONTENDERS: readonly Contender[] = [
  ours,
  published(''),
  published(', index rarely lags', { lag: seldomUpTo(3_000) }),
  published(', index never lags', { lag: NO_LAG }),
  published(', conditional claims', { claims: 'conditional' }),
  published(', conditional claims, leaders restarted', { claims: 'conditional', restarts: true }),
  // The largest improvement that a durable workflow and a fast index can give.
  published(', both, index rarely lags', { claims: 'conditional', restarts: true, lag: seldomUpTo(3_000) }),
  published(', both, index never lags', { claims: 'conditional', restarts: true, lag: NO_LAG }),
  published(', no second read', { looksAgain: false }),
  withoutFaults(ours),
  withoutFaults(published('')),
  withoutFaults(published(', index rarely lags', { lag: seldomUpTo(3_000) })),
  withoutFaults(published(', index never lags', { lag: NO_LAG })),
];

/**
 * Runs schedules with consecutive seeds.
 * @param change alters each schedule, for all contenders
 */
export const compete = async (
  { run }: Contender,
  firstSeed: number,
  runs: number,
  change: (scenario: Scenario) => Scenario = (scenario) => scenario,
): Promise<Outcome> => {
  let total = NOTHING;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1)
    total = sum(total, await run(change(comparable(scenarioOf(seed)))));
  return total;
};

/** The same schedule, with another batch size only for this contender. */
export const withSize =
  (maxSize: number) =>
  (scenario: Scenario): Scenario => ({
    ...scenario,
    config: withOperations(scenario.config, ({ batch }) => ({ batch: { ...batch, maxSize } })),
  });
