/** Shared by the tests of slots: the kit with caps, other Targets of the operation, and a cleanup of the operation's rows. */

import type { Concurrency } from '../../src/domain/config/policies.ts';
import type { Target } from '../../src/domain/ids.ts';
import { aConfig, aPolicy, operationName, target } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { kit } from './step-suite.ts';

export const SHIP = operationName('ship');
export const elsewhere = (n: number): Target => target(`ship/depot=other-${n}`);

export const capped = (concurrency: Partial<Concurrency>): StepKit => ({
  ...kit,
  config: aConfig({
    batch: aPolicy({ maxSize: 4, maxWait: 5_000 }),
    concurrency: { perTarget: null, total: null, ...concurrency },
  }),
});

/** The tests of a file share the operation's rows. */
export const clean = async (): Promise<void> => {
  for (const each of (await kit.operations.read(SHIP)).inFlight) await kit.operations.freeSlot(SHIP, each);
  for (const each of await kit.operations.waiting(SHIP, 999)) await kit.operations.dequeue(SHIP, each, 'any');
};
