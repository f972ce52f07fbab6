/** Which schedules of fan-outs show a bug that few of the usual ones do. */
import type { FailFast } from '../../src/domain/fan-outs/fan-out.ts';
import { MINUTE } from '../../src/domain/timings.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { ClientRequestOf, Consumers, FanOutScenario } from '../fan-outs/scenario.ts';

export type Where = (scenario: FanOutScenario) => Partial<FanOutScenario>;

/** All that producers wish for comes so long after what they were answered before; and nobody gives up. */
const wishing = (
  { producers }: FanOutScenario,
  change: (request: ClientRequestOf, n: number) => Partial<ClientRequestOf>,
): FanOutScenario['producers'] =>
  producers.map(({ id, requests }) => ({
    id,
    requests: requests.map(
      (request, n) => ({ ...request, tries: Number.POSITIVE_INFINITY, ...change(request, n) }) as ClientRequestOf,
    ),
  }));
const consuming = (
  { fanOuts }: FanOutScenario,
  change: Partial<Consumers>,
  rules?: FailFast,
): FanOutScenario['fanOuts'] =>
  new Map(
    [...fanOuts].map(([id, { consumers, ...rest }]) => [
      id,
      { ...rest, ...(rules ? { failFast: rules } : {}), consumers: { ...consumers, ...change } },
    ]),
  );

/** Some items are acked at once, while somebody seals; nothing goes wrong. */
export const acksMeetTheSeal: Where = (scenario) => ({
  faults: NO_FAULTS,
  producers: wishing(scenario, (_, n) => ({ after: 0, count: 1 + (n % 2) })),
  fanOuts: consuming(scenario, { span: 20, lost: 0, atOnce: 10 }),
});
/** Somebody wishes for more about when it would expire; the patrol is slow. */
export const addsMeetTheExpiry: Where = (scenario) => ({
  faults: { ...NO_FAULTS, pause: 0.2 },
  faultsEnd: 90 * MINUTE,
  config: { ...scenario.config, fanOuts: { ...scenario.config.fanOuts, idleOpen: 10 * MINUTE } },
  producers: wishing(scenario, (_, n) => ({ after: n === 0 ? 0 : 10 * MINUTE + ((scenario.seed * 37_001) % 300_000) })),
  fanOuts: consuming(scenario, { lost: 1 }),
});
/** Many add at once, and much fails at once that is not tolerated. */
export const addsMeetFailures: Where = (scenario) => ({
  faults: NO_FAULTS,
  producers: wishing(scenario, (request) => ({ after: 0, ...(request.do === 'seal' ? { after: 60_000 } : {}) })),
  fanOuts: consuming(scenario, { span: 30, failing: 0.5, lost: 0 }, { count: 0 }),
});
/** Much fails that is not tolerated, and is acked more than once. */
export const failuresAreAckedAgain: Where = (scenario) => ({
  faults: { ...NO_FAULTS, crash: 0.02 },
  faultsEnd: 90 * MINUTE,
  fanOuts: consuming(scenario, { span: 2_000, failing: 0.5, again: 1, atOnce: 1, stray: 0 }, { count: 1 }),
});
/** A few items fill their groups and are all done when it is sealed by somebody who is not well. */
export const sealersDie: Where = (scenario) => ({
  faults: { ...NO_FAULTS, crash: 0.2 },
  faultsEnd: 90 * MINUTE,
  producers: wishing(scenario, (request) => ({
    after: 60_000,
    ...(request.do === 'add' ? { count: scenario.nodeSize.width } : {}),
    ...(request.do === 'seal' ? { tries: 1, after: 20 * MINUTE } : {}),
  })).map(({ id, requests }) => ({ id, requests: requests.filter((request, n) => request.do !== 'add' || n === 1) })),
  fanOuts: consuming(scenario, { span: 0, lost: 0, failing: 0 }),
});
/** Nobody adds anything. */
export const nobodyAdds: Where = (scenario) => ({
  ...sealersDie(scenario),
  producers: scenario.producers.map(({ id, requests }) => ({
    id,
    requests: requests.filter(({ do: each }) => each !== 'add'),
  })),
});
