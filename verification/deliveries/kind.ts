/** Schedules of deliveries, and the figures that are counted. */
import { noFaultCounts } from '../../src/virtual/faults.ts';
import { firstBroken, type Kind } from '../harness/schedules.ts';
import { type DeliveryScenario, deliveryScenarioOf } from './scenario.ts';
import { type DeliveryReport, runDeliveries } from './schedule.ts';

const NONE = { events: 0, givenUp: 0, faults: noFaultCounts() };

export const DELIVERIES: Kind<DeliveryScenario, DeliveryReport, typeof NONE> = {
  script: 'simulate:deliveries',
  main: new URL('./main.ts', import.meta.url),
  sizes: { usual: { scenarioOf: deliveryScenarioOf } },
  run: runDeliveries,
  brokenIn: firstBroken,
  none: NONE,
  figuresOf: ({ ledger: { sent }, faults }) => ({
    events: sent.size,
    givenUp: [...sent.values()].filter(({ givenUpAt }) => givenUpAt !== undefined).length,
    faults,
  }),
  inWords: ({ events }) => `${events} events`,
};
