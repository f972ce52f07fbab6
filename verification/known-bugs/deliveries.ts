/** Bugs of deliveries, put back to try the judges. Each stands in for a step, or for what is known of destinations. */

import { NEW_SHARE } from '../../src/domain/callbacks/share.ts';
import { redriveDeadLetterQueue, walkDeadLetters } from '../../src/steps/repair/dead-letters.ts';
import { NO_FAULTS } from '../../src/virtual/faults.ts';
import type { DeliveryScenario, Patched, Receiver } from '../deliveries/scenario.ts';
import type { Known } from './bug.ts';

/** As it was before there was a share: whoever has events for a destination calls it. */
const noShare: Patched = {
  sharing: () => ({ look: async () => NEW_SHARE, change: async () => 'unknown' }),
};

/** A circuit that no answer closes. */
const circuitsStayOpen: Patched = {
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

/** A circuit that is not looked at: a destination that is down is called at each receive. */
const circuitsAreOverlooked: Patched = {
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

/** As it was before given-up events had a queue of their own: the sweep leaves them where they are. */
const givenUpStay: Patched = {
  steps: {
    sweepDeadLetters: (deps, queue, { began, mayGoOn }) =>
      walkDeadLetters(deps, queue, { began, mayGoOn }, async ({ body }) => {
        if (body.includes('"old-')) return 'it stays';
        await redriveDeadLetterQueue(deps, queue, { began, mayGoOn: () => true }, () => 1);
        return undefined;
      }),
  },
};

type Where = (scenario: DeliveryScenario) => Partial<DeliveryScenario>;

const others = (
  { receivers: [well, ...rest] }: DeliveryScenario,
  change: Partial<Receiver>,
): Pick<DeliveryScenario, 'receivers'> => ({
  receivers: [well as Receiver, ...rest.map((each) => ({ ...each, ...change }))],
});

const BURST = Array.from({ length: 150 }, (_, n) => n);

/** Many events for destinations that hang, and nothing goes wrong beside that. */
const hanging: Where = (scenario) => ({
  faults: NO_FAULTS,
  ...others(scenario, { manner: 'hangs', timeout: 20_000, recoversAt: 15 * 60_000, events: BURST }),
});
/** A few events for destinations that hang. */
const aFewHang: Where = (scenario) => ({
  faults: NO_FAULTS,
  ...others(scenario, { manner: 'hangs', timeout: 20_000, recoversAt: 15 * 60_000, events: BURST.slice(0, 6) }),
});
/** An earlier release has left events among the dead letters. */
const leftBehind: Where = () => ({ faults: NO_FAULTS, leftBehind: 400, fresh: 1 });

export const DELIVERY_BUGS: readonly Known<Patched, DeliveryScenario>[] = [
  ['destinations without a share', noShare, /healthy destination is delivered soon/, hanging],
  ['circuits that never close', circuitsStayOpen, /only events for destinations that never recover/, aFewHang],
  ['circuits that are overlooked', circuitsAreOverlooked, /a failed destination is called seldom/, hanging],
  ['given-up events that stay among dead letters', givenUpStay, /delivered or given up|is delivered soon/, leftBehind],
];
