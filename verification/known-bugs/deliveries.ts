/**
 * Bugs of deliveries, put back to prove that the judges find them. Each bug replaces a step, or the stored state of
 * destinations.
 */

import { NEW_SHARE } from '../../src/domain/callbacks/share.ts';
import { redriveDeadLetterQueue, walkDeadLetters } from '../../src/steps/repair/dead-letters.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { DeliveryScenario, Patched, Receiver } from '../deliveries/scenario.ts';
import type { Known } from './bug.ts';

/** Every destination counts as calm, so a slow destination may occupy all invocations of the callback function. */
const slowDestinationHoldsAll: Patched = {
  sharing: () => ({ look: async () => NEW_SHARE, change: async () => 'unknown' }),
};

/** No answer closes the circuit. */
const circuitStaysOpen: Patched = {
  sharing: ({ look, change }) => ({
    look,
    change: (next) =>
      change((share) => {
        const after = next(share);
        if (!after) return after;
        const closed = Object.entries(share.destinations).filter(
          ([name, { openUntil }]) => openUntil !== undefined && after.destinations[name]?.openUntil === undefined,
        );
        const open = closed.map(([name, health]) => [name, { ...health, openUntil: Number.POSITIVE_INFINITY }]);
        return { ...after, destinations: { ...after.destinations, ...Object.fromEntries(open) } };
      }),
  }),
};

/**
 * The function does not read the circuit, so it calls a failed destination each time that it receives an event for it.
 */
const circuitIgnored: Patched = {
  sharing: ({ look, change }) => ({
    look: async () => {
      const share = await look();
      const destinations = Object.entries(share.destinations).map(([name, { openUntil: _, ...health }]) => [
        name,
        health,
      ]);
      return { ...share, destinations: Object.fromEntries(destinations) };
    },
    change,
  }),
};

/** As in an earlier release: the sweep leaves given-up events among the dead letters. */
const givenUpEventsStay: Patched = {
  steps: {
    sweepDeadLetters: (deps, queue, { began, mayGoOn }) =>
      walkDeadLetters(deps, queue, { began, mayGoOn }, async ({ body }) => {
        if (body.includes('"old-')) return 'it stays';
        await redriveDeadLetterQueue(deps, queue, { began, mayGoOn: () => true }, () => 1);
        return undefined;
      }),
  },
};

type ScenarioChange = (scenario: DeliveryScenario) => Partial<DeliveryScenario>;

const others = (
  { receivers: [well, ...rest] }: DeliveryScenario,
  change: Partial<Receiver>,
): Pick<DeliveryScenario, 'receivers'> => ({
  receivers: [well as Receiver, ...rest.map((each) => ({ ...each, ...change }))],
});

const BURST = Array.from({ length: 150 }, (_, n) => n);

/** Many events for destinations that do not answer, without faults. */
const manyEventsWithoutAnswer: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  ...others(scenario, { manner: 'hangs', timeout: 20_000, recoversAt: 15 * 60_000, events: BURST }),
});
/** A few events for destinations that do not answer. */
const fewEventsWithoutAnswer: ScenarioChange = (scenario) => ({
  faults: NO_FAULTS,
  ...others(scenario, { manner: 'hangs', timeout: 20_000, recoversAt: 15 * 60_000, events: BURST.slice(0, 6) }),
});
/** Events that an earlier release left among the dead letters. */
const leftBehind: ScenarioChange = () => ({ faults: NO_FAULTS, leftBehind: 400, fresh: 1 });

export const DELIVERY_BUGS: readonly Known<Patched, DeliveryScenario>[] = [
  [
    'slow destination holds all invocations',
    slowDestinationHoldsAll,
    /healthy destination is delivered soon/,
    manyEventsWithoutAnswer,
  ],
  ['circuit never closes', circuitStaysOpen, /only events for destinations that never recover/, fewEventsWithoutAnswer],
  ['circuit ignored', circuitIgnored, /a failed destination is called seldom/, manyEventsWithoutAnswer],
  ['given-up events left among dead letters', givenUpEventsStay, /delivered or given up|is delivered soon/, leftBehind],
];
