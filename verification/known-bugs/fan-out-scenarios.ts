/** Scenarios of fan-outs for bugs that few of the usual ones show. */
import type { FailFast } from '../../src/domain/fan-outs/fan-out.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { ClientRequestOf, Consumers, FanOutScenario, Wishes } from '../fan-outs/scenario.ts';

export type ScenarioChange = (scenario: FanOutScenario) => Partial<FanOutScenario>;

/** Changes all requests of producers. The producers repeat them until they are answered. */
const withRequests = (
  { producers }: FanOutScenario,
  change: (request: ClientRequestOf, n: number) => Partial<ClientRequestOf>,
): FanOutScenario['producers'] =>
  producers.map(({ id, requests }) => ({
    id,
    requests: requests.map(
      (request, n) => ({ ...request, tries: Number.POSITIVE_INFINITY, ...change(request, n) }) as ClientRequestOf,
    ),
  }));
const withConsumers = (
  { fanOuts }: FanOutScenario,
  change: Partial<Consumers>,
  rules?: FailFast,
  wishes: Partial<Wishes> = {},
): FanOutScenario['fanOuts'] =>
  new Map(
    [...fanOuts].map(([id, { consumers, ...rest }]) => [
      id,
      { ...rest, ...(rules ? { failFast: rules } : {}), ...wishes, consumers: { ...consumers, ...change } },
    ]),
  );

/** Some items are acked at once during the seal, without faults. */
export const acksDuringSeal: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  producers: withRequests(scenario, (_, n) => ({ after: 0, count: 1 + (n % 2) })),
  fanOuts: withConsumers(scenario, { span: 20, lost: 0, atOnce: 10 }),
});
/** Items are added at about the time of the expiry, and the patrol is slow. */
export const additionsDuringExpiry: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.2 },
  faultsEnd: 90 * MINUTE,
  config: { ...scenario.config, fanOuts: { ...scenario.config.fanOuts, idleOpen: 10 * MINUTE } },
  producers: withRequests(scenario, (_, n) => ({
    after: n === 0 ? 0 : 10 * MINUTE + ((scenario.seed * 37_001) % 300_000),
  })),
  fanOuts: withConsumers(scenario, { lost: 1 }),
});
/** Many items are added and fail at once, and a single failure makes the fan-out fail fast. */
export const additionsDuringFailures: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  producers: withRequests(scenario, (request) => ({ after: 0, ...(request.do === 'seal' ? { after: 60_000 } : {}) })),
  fanOuts: withConsumers(scenario, { span: 30, failing: 0.5, lost: 0 }, { count: 0 }),
});
/** Many items fail beyond the tolerated number, and are acked more than once. */
export const failuresAreAckedAgain: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, crash: 0.02 },
  faultsEnd: 90 * MINUTE,
  fanOuts: withConsumers(scenario, { span: 2_000, failing: 0.5, again: 1, atOnce: 1, stray: 0 }, { count: 1 }),
});
/**
 * A few items fill their groups, and all of them are done before the fan-out is sealed. The process that seals the
 * fan-out often dies.
 */
export const sealersDie: ScenarioChange = (scenario) => ({
  faults: { ...NO_FAULTS, crash: 0.2 },
  faultsEnd: 90 * MINUTE,
  producers: withRequests(scenario, (request) => ({
    after: 60_000,
    ...(request.do === 'add' ? { count: scenario.nodeSize.width } : {}),
    ...(request.do === 'seal' ? { tries: 1, after: 20 * MINUTE } : {}),
  })).map(({ id, requests }) => ({ id, requests: requests.filter((request, n) => request.do !== 'add' || n === 1) })),
  fanOuts: withConsumers(scenario, { span: 0, lost: 0, failing: 0 }),
});
/** No items are added. */
export const withoutItems: ScenarioChange = (scenario) => ({
  ...sealersDie(scenario),
  producers: scenario.producers.map(({ id, requests }) => ({
    id,
    requests: requests.filter(({ do: each }) => each !== 'add'),
  })),
});
/**
 * Hundreds of items are acked within a minute, and more of them fail than the share that a sum has to find. Half of the
 * schedules have no faults, so that one sum must suffice.
 */
export const steadyFailures: ScenarioChange = (scenario) => ({
  ...(scenario.seed % 2 === 0 ? {} : { faults: NO_FAULTS }),
  faultsEnd: 90 * MINUTE,
  nodeSize: { width: 20, acksAtOnce: 10 },
  producers: withRequests(scenario, (request, n) => ({
    after: 0,
    ...(request.do === 'add' ? { count: 300 + 20 * (n % 4) } : {}),
  })).map(({ id, requests }) => ({ id, requests: requests.filter(({ do: each }) => each !== 'delete') })),
  fanOuts: withConsumers(scenario, { span: MINUTE, failing: 0.5, lost: 0, atOnce: 3 }, { share: 0.3 }),
});
/** About half of the items fail, the first failure is reported, and all tasks of failed items are redriven. */
export const redrives: ScenarioChange = (scenario) => ({
  faults: { ...scenario.faults, crash: 0.02 },
  faultsEnd: 90 * MINUTE,
  config: { ...scenario.config, fanOuts: { ...scenario.config.fanOuts, callback: 'ops' } },
  producers: withRequests(scenario, () => ({})).map(({ id, requests }) => ({
    id,
    requests: requests.filter(({ do: each }) => each !== 'delete'),
  })),
  fanOuts: new Map(
    [...withConsumers(scenario, { failing: 0.5, lost: 0 }, undefined, { redriven: 1, notifyFirstFailure: true })].map(
      ([id, { failFast: _, ...rest }]) => [id, rest],
    ),
  ),
});
