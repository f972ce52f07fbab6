/** The sweep and the patrol on slots: slots without a batch are freed, and Targets that wait for a slot are woken. */
import { beforeEach, expect, it } from 'vitest';
import { batchIdOf, type Token } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { lookAtTarget } from '../../src/steps/repair/repair.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { sweepSlots } from '../../src/steps/slots/sweep-slots.ts';
import { aConfig, NOW, operationName } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP, state, waits, woken } from './capped.ts';
import type { StepKit } from './step-kit.ts';
import { guard, kit, registered, suite, where } from './step-suite.ts';

suite('the sweep of slots', () => {
  beforeEach(clean);
  const always = (): boolean => true;
  const id = () => batchIdOf(where, 1, 1);
  const mine = () => slotOf(where, 1, 1);
  const took = async (): Promise<void> => {
    await kit.locks.acquire(where, { ...guard(), seen: { fence: 0 }, now: NOW, until: NOW });
    await kit.operations.takeSlot(SHIP, mine(), 3);
  };
  const open = () => kit.locks.openBatch(where, guard(), { batch: id(), round: 1, by: 'turn' as Token, until: NOW });
  const form = () =>
    kit.batches.form({ id: id(), target: where, sealedBy: 'full', candidates: [], oldestAt: NOW, createdAt: NOW });
  const swept = async (): Promise<boolean> => {
    await sweepSlots(capped({ total: 3 }), always);
    return !(await state()).inFlight.includes(mine());
  };

  it('keeps the slot of a leader that may still open its batch', async () => {
    await took();
    kit.now += 3_600_000;
    expect(await swept()).toBe(false);
    await open();
    expect(await swept()).toBe(false);
    await form();
    await kit.locks.closeBatch(where, id());
    expect(await swept()).toBe(false);
  });

  it('frees the slot of a finished batch, and reports it', async () => {
    await took();
    await open();
    await kit.batches.seal(await form(), [], NOW, 1_000);
    expect(await swept()).toBe(true);
    expect(kit.events).toContainEqual({ event: 'slot-freed', operation: 'ship', slot: mine() });
  });

  it('frees a slot whose batch was never opened by the leader that took it', async () => {
    await took();
    await kit.locks.release(where, guard());
    expect(await swept()).toBe(true);
    await kit.operations.takeSlot(SHIP, mine(), 3);
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: NOW, until: NOW });
    expect(await swept()).toBe(true);
  });

  it('wakes as many Targets as slots are free, and none while paused', async () => {
    await took();
    await kit.locks.release(where, guard());
    for (const n of [1, 2]) await kit.operations.enqueue(SHIP, waits(n));
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    await sweepSlots(capped({ total: 1 }), always);
    expect(woken()).toEqual([]);
    await kit.operations.resume(SHIP, 'pause', NOW);
    await sweepSlots(capped({ total: 1 }), always);
    expect(woken()).toEqual([elsewhere(1)]);
  });

  it('wakes all waiting Targets once the operation has no cap', async () => {
    for (const n of [1, 2, 3]) await kit.operations.enqueue(SHIP, waits(n));
    await sweepSlots(capped({ total: null }), always);
    expect(woken()).toEqual([elsewhere(1), elsewhere(2), elsewhere(3)]);
  });

  it('sends a resume message for a pause that should have ended', async () => {
    const circuit = { id: 'circuit', by: 'circuit', since: NOW, until: NOW + 30_000 } as const;
    await kit.operations.pause(SHIP, circuit);
    kit.now = circuit.until + 60_000;
    await sweepSlots(kit, always);
    expect(kit.sent.resume).toEqual([]);
    kit.now += 600_000;
    await sweepSlots(kit, always);
    expect(kit.sent.resume).toEqual([{ kind: 'resume', operation: 'ship', resume: 'circuit', delay: 0 }]);
  });

  it('goes on with other operations if one fails, and then throws', async () => {
    const two = { ...kit, config: aConfig({ operation: operationName('broken') }, {}) };
    await kit.operations.enqueue(SHIP, waits(1));
    const read: StepKit['operations']['read'] = async (operation) => {
      if (operation === 'broken') throw new Error('throttled');
      return kit.operations.read(operation);
    };
    await expect(sweepSlots({ ...two, operations: { ...kit.operations, read } }, always)).rejects.toThrow(
      'slots: Error: throttled',
    );
    expect(woken()).toEqual([elsewhere(1)]);
  });
});

suite('a short sweep of slots', () => {
  beforeEach(clean);

  it('begins with a random slot, and reports how many are left', async () => {
    const deps = capped({ total: 9 });
    for (let n = 0; n < 8; n += 1) await kit.operations.takeSlot(SHIP, slotOf(elsewhere(n), 1, 1), 9);
    const order = [...(await state()).inFlight];
    kit.chance = 0.5;
    let looks = 0;
    await sweepSlots(deps, () => {
      looks += 1;
      return looks <= 3;
    });
    const freed = kit.events.flatMap((event) => (event.event === 'slot-freed' ? [event.slot] : []));
    expect(freed.toSorted()).toEqual(order.slice(4, 7).toSorted());
    expect(kit.events).toContainEqual({ event: 'sweep-cut', part: 'slots', left: 5 });
  });

  it('leaves time for the patrol', async () => {
    const deps = capped({ total: 900 });
    for (let n = 0; n < 200; n += 1) await kit.operations.takeSlot(SHIP, slotOf(elsewhere(n), 1, 1), 999, 1);
    let time = 50_000;
    const get: StepKit['batches']['get'] = async (id) => {
      time -= 250;
      return kit.batches.get(id);
    };
    const patrolled: number[] = [];
    const targets: StepKit['locks']['targets'] = async (...args) => {
      patrolled.push(time);
      return kit.locks.targets(...args);
    };
    const slow = { ...deps, batches: { ...kit.batches, get }, locks: { ...kit.locks, targets } };
    await sweep(slow, { timeLeft: () => time });
    expect(patrolled[0]).toBeGreaterThan(5_000);
    expect(kit.events).toContainEqual(expect.objectContaining({ event: 'sweep-cut', part: 'slots' }));
    for (let n = 0; n < 200; n += 1) await kit.operations.freeSlot(SHIP, slotOf(elsewhere(n), 1, 1), 1);
  });
});

suite('a forgotten Target', () => {
  beforeEach(clean);

  it('is found though a hundred others wait for a slot', async () => {
    await registered(1);
    await kit.locks.acquire(where, { ...guard(), seen: { fence: 0 }, now: NOW, until: NOW });
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    for (let n = 0; n < 120; n += 1)
      await kit.operations.enqueue(SHIP, { target: elsewhere(n), at: NOW - 1_000 + n, fence: 1 });
    const look = () => lookAtTarget(capped({ total: 1 }), where, NOW + 3_600_000);
    expect(await look()).toMatchObject({ finding: 'forgotten', target: where });
    await kit.operations.enqueue(SHIP, { target: where, at: NOW, fence: 1 });
    expect(await look()).toBeUndefined();
  });
});
