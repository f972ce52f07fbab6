/** Slots of an operation: how they are taken and waited for, and how waiting Targets are woken. */
import { beforeEach, expect, it } from 'vitest';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { takeOperationSlot, waitForOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { resumeOperation } from '../../src/steps/slots/pauses.ts';
import { wake, wakeForFreeSlot } from '../../src/steps/slots/wake.ts';
import { NOW } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP, state, waiting, waits, woken } from './capped.ts';
import type { StepKit } from './step-kit.ts';
import { guard, kit, suite } from './step-suite.ts';

suite('a slot of an operation', () => {
  beforeEach(clean);

  it('is taken once for a batch, and not while the operation is paused', async () => {
    const take = (n: number, total: number | null = 1) =>
      takeOperationSlot(capped({ total }), elsewhere(n), slotOf(elsewhere(n), 1, 1));
    expect([await take(1), await take(1), await take(2), await take(2, null)]).toEqual([0, 0, undefined, 0]);
    expect((await state()).inFlight).toEqual([slotOf(elsewhere(1), 1, 1)]);
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    expect([await take(1), await take(2, null)]).toEqual([undefined, undefined]);
  });

  it('is queued for in a row that is stored before the next check', async () => {
    await kit.operations.takeSlot(SHIP, slotOf(elsewhere(9), 1, 1), 1);
    const seen: number[] = [];
    const read: StepKit['operations']['read'] = async (operation) => {
      seen.push((await waiting()).length);
      return kit.operations.read(operation);
    };
    const deps = capped({ total: 1 });
    expect(await waitForOperationSlot({ ...deps, operations: { ...kit.operations, read } }, waits(1))).toBe(false);
    expect(seen).toEqual([1]);
    await kit.operations.freeSlot(SHIP, slotOf(elsewhere(9), 1, 1));
    expect(await waitForOperationSlot(deps, waits(1))).toBe(true);
    // The row is deleted once the Target is led.
    expect(await waiting()).toEqual([waits(1)]);
  });
});

suite('the wake step', () => {
  beforeEach(clean);

  it('sends a message to one of the ten oldest Targets, then dequeues it (W1–W3)', async () => {
    for (let n = 0; n < 12; n += 1) await kit.operations.enqueue(SHIP, waits(n, n));
    kit.chance = 0.9999;
    const rowsAtMessage: number[] = [];
    const elect: StepKit['queues']['elect'] = async (messages) => {
      rowsAtMessage.push((await waiting()).length);
      return kit.queues.elect(messages);
    };
    expect(await wake({ ...kit, queues: { ...kit.queues, elect } }, SHIP)).toBe(true);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: elsewhere(9), wake: 9 }]);
    expect(rowsAtMessage).toEqual([12]);
    kit.chance = 0;
    await wake(kit, SHIP);
    expect(woken()[1]).toBe(elsewhere(0));
    expect(await waiting()).toHaveLength(10);
  });

  it('sends one message though the row is taken; a second wakes the next (W3)', async () => {
    for (const n of [1, 2]) await kit.operations.enqueue(SHIP, waits(n));
    kit.chance = 0;
    const elect: StepKit['queues']['elect'] = async (messages) => {
      await kit.operations.dequeue(SHIP, waits(1));
      return kit.queues.elect(messages);
    };
    expect(await wake({ ...kit, queues: { ...kit.queues, elect } }, SHIP)).toBe(true);
    expect(woken()).toEqual([elsewhere(1)]);
    // The first message led to a new leader.
    await kit.locks.acquire(elsewhere(1), { ...guard(2), seen: { fence: 0 }, now: NOW, until: NOW });
    await electLeader(capped({ total: 1 }), { kind: 'elect', target: elsewhere(1), wake: 1 });
    expect(woken()).toEqual([elsewhere(1), elsewhere(2)]);
    expect(await wake(kit, SHIP)).toBe(false);
  });

  it('wakes as many Targets as slots are free; one while half-open', async () => {
    for (const n of [3, 1, 2]) await kit.operations.enqueue(SHIP, waits(n));
    await kit.operations.takeSlot(SHIP, slotOf(elsewhere(9), 1, 1), 9);
    await wakeForFreeSlot(capped({ total: 3 }), SHIP);
    expect(woken()).toEqual([elsewhere(1), elsewhere(2)]);
    await wakeForFreeSlot(capped({ total: 1 }), SHIP);
    expect(woken()).toHaveLength(2);
    for (const n of [4, 5]) await kit.operations.enqueue(SHIP, waits(n));
    const circuit = { failures: 2, coolDown: 1_000 };
    await kit.operations.addFailure(SHIP, 2);
    await wakeForFreeSlot(capped({ total: null }, circuit), SHIP);
    expect(woken()).toHaveLength(3);
    await kit.operations.resetFailures(SHIP);
    await wakeForFreeSlot(capped({ total: null }), SHIP);
    expect(await waiting()).toEqual([]);
  });
});

suite('the resume of an operation', () => {
  beforeEach(clean);

  it('ends the pause with its id and wakes waiting Targets each time', async () => {
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    await kit.operations.enqueue(SHIP, waits(1));
    await resumeOperation(kit, { kind: 'resume', operation: SHIP, resume: 'another' });
    expect([(await state()).paused?.id, woken()]).toEqual(['pause', []]);
    await resumeOperation(kit, { kind: 'resume', operation: SHIP, resume: 'pause' });
    expect([(await state()).paused, woken()]).toEqual([undefined, [elsewhere(1)]]);
    await kit.operations.enqueue(SHIP, waits(2));
    await resumeOperation(kit, { kind: 'resume', operation: SHIP, resume: 'pause' });
    expect(woken()).toEqual([elsewhere(1), elsewhere(2)]);
  });
});
