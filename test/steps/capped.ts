/** For the tests of slots: the kit with caps, batches and slots of a Target, other Targets, and a cleanup. */
import type { CircuitPolicy, Concurrency } from '../../src/domain/config/policies.ts';
import { type BatchId, batchIdOf, type Target } from '../../src/domain/ids.ts';
import { type Slot, slotOf } from '../../src/domain/operations/slots.ts';
import { aConfig, aPolicy, NOW, operationName, target } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { kit, where } from './step-suite.ts';

export const SHIP = operationName('ship');
export const A_PAUSE = { id: 'pause', by: 'person', since: NOW - 60_000 } as const;
export const batch = (round = 1): BatchId => batchIdOf(where, 1, round);
export const slot = (round = 1, fence = 1): Slot => slotOf(where, fence, round);

/** The slots and the pause of the operation. */
export const state = () => kit.operations.read(SHIP);

/** Another Target of the operation. */
export const elsewhere = (n: number): Target => target(`ship/depot=other-${n}`);
/** The row of another Target that waits for a slot. */
export const waits = (n: number, fence = 1) => ({ target: elsewhere(n), at: NOW + n, fence });
export const waiting = () => kit.operations.waiting(SHIP, 999);
/** The Targets that were sent an elect message. */
export const woken = () => kit.sent.elect.map((each) => each.target);

export const capped = (concurrency: Partial<Concurrency>, circuit: CircuitPolicy | null = null): StepKit => ({
  ...kit,
  config: aConfig({
    batch: aPolicy({ maxSize: 4, maxWait: 5_000 }),
    concurrency: { perTarget: null, total: null, ...concurrency },
    circuit,
  }),
});

/** The tests of a file share the operation's rows. */
export const clean = async (): Promise<void> => {
  const { inFlight, paused } = await state();
  for (const each of inFlight) await kit.operations.freeSlot(SHIP, each);
  if (paused) await kit.operations.resume(SHIP, paused.id, NOW);
  await kit.operations.resetFailures(SHIP);
  for (const each of await waiting()) await kit.operations.dequeue(SHIP, each, 'any');
};
