/** Bugs of deliveries, put back to try the judges. Each stands in for a step, or for what is known of destinations. */
import { reviveDeadLetters } from '../../../src/batching/dead-letters.ts';
import { walkLetters } from '../../../src/batching/walk-letters.ts';
import { NEW_SHARE } from '../../../src/callbacks/share.ts';
import type { DeliveryScenario, Receiver } from '../../../src/simulation/deliveries/scenario.ts';
import type { Patched } from '../../../src/simulation/deliveries/steps.ts';
import { NO_FAULTS } from '../../../src/simulation/faults.ts';

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
        const kept = Object.entries(share.destinations).filter(([, { openUntil }]) => openUntil !== undefined);
        return { ...after, destinations: { ...after.destinations, ...Object.fromEntries(kept) } };
      }),
  }),
};

/** Slots that only their holder frees. */
const slotsNeverEnd: Patched = {
  shares: (shares) => ({
    ...shares,
    write: (share) =>
      shares.write({ ...share, slots: share.slots.map((slot) => ({ ...slot, until: Number.POSITIVE_INFINITY })) }),
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
      walkLetters(deps, queue, { began, mayGoOn }, async ({ body }) => {
        if (body.includes('"old-')) return 'it stays';
        await reviveDeadLetters(deps, queue, { began, mayGoOn: () => true }, () => 1);
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

const BURST = Array.from({ length: 200 }, (_, n) => n);

/** Many events for destinations that hang, and nothing goes wrong beside that. */
const hanging: Where = (scenario) => ({
  faults: NO_FAULTS,
  ...others(scenario, { manner: 'hangs', timeout: 60_000, recoversAt: 30 * 60_000, events: BURST }),
});
/** Functions die while they call slow destinations. */
const dying: Where = (scenario) => ({
  faults: { ...NO_FAULTS, crash: 0.05 },
  faultsEnd: 600_000,
  ...others(scenario, { manner: 'slow', recoversAt: 'never', events: BURST }),
});
const leftBehind: Where = () => ({ faults: NO_FAULTS, leftBehind: 400, fresh: 1 });

/** A bug, the promise that it breaks, and where it shows. */
export type DeliveryBug = readonly [name: string, bug: Patched, promise: RegExp, where: Where];

export const DELIVERY_BUGS: readonly DeliveryBug[] = [
  ['destinations without a share', noShare, /healthy destination comes soon/, hanging],
  ['circuits that never close', circuitsStayOpen, /delivered or given up|that is back gets/, hanging],
  ['circuits that are overlooked', circuitsAreOverlooked, /is called seldom/, hanging],
  ['slots that a crash keeps', slotsNeverEnd, /delivered or given up/, dying],
  ['given-up events that stay among dead letters', givenUpStay, /delivered or given up|comes soon/, leftBehind],
];

export const withDeliveryBug = ([, patched, , where]: DeliveryBug, scenario: DeliveryScenario): DeliveryScenario => ({
  ...scenario,
  ...where(scenario),
  patched,
});
