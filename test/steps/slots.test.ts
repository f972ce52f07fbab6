/** Slots of an operation: how they are taken, released, waited for, and how waiting Targets are woken. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CircuitPolicy, Concurrency } from '../../src/domain/config/policies.ts';
import { type BatchId, batchIdOf, type Target, type Token } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { takeOperationSlot, waitForOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { resumeOperation } from '../../src/steps/slots/pauses.ts';
import { sweepSlots } from '../../src/steps/slots/sweep-slots.ts';
import { wake, wakeForFreeSlot } from '../../src/steps/slots/wake.ts';
import { aConfig, aPolicy, NOW, operationName, target, token } from '../factories/factories.ts';
import type { StepKit } from './step-kit.ts';
import { guard, kit, lock, registered, suite, where } from './step-suite.ts';

const SHIP = operationName('ship');
const elsewhere = (n: number): Target => target(`ship/depot=elsewhere-${n}`);
const waits = (n: number, fence = 1) => ({ target: elsewhere(n), at: NOW + n, fence });
const state = () => kit.operations.read(SHIP);
const waiting = () => kit.operations.waiting(SHIP, 999);
const woken = () => kit.sent.elect.map((each) => each.target);

const capped = (concurrency: Partial<Concurrency>, circuit: CircuitPolicy | null = null): StepKit => ({
  ...kit,
  config: aConfig({
    batch: aPolicy({ maxSize: 4, maxWait: 5_000 }),
    concurrency: { perTarget: null, total: null, ...concurrency },
    circuit,
  }),
});

/** The tests of a file share the operation's rows. */
const clean = async (): Promise<void> => {
  const { inFlight, paused } = await state();
  for (const slot of inFlight) await kit.operations.freeSlot(SHIP, slot);
  if (paused) await kit.operations.resume(SHIP, paused.id);
  await kit.operations.resetFailures(SHIP);
  for (const each of await waiting()) await kit.operations.dequeue(SHIP, each);
};

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

suite('the end of a batch', () => {
  beforeEach(clean);
  const batch = () => ({ id: batchIdOf(where, 1, 1), target: where, operation: SHIP });
  /** `count` batches of the Target are under way, and tasks wait behind them. */
  const inFlight = async (count: number, perTarget: number): Promise<void> => {
    await registered(1);
    await kit.locks.acquire(where, { ...guard(), seen: { fence: 0 }, now: NOW, until: NOW });
    for (let round = 1; round <= count; round += 1) {
      const id: BatchId = batchIdOf(where, 1, round);
      await kit.locks.openBatch(where, guard(), { batch: id, round, by: 'turn' as Token, until: NOW, perTarget });
      await kit.locks.closeBatch(where, id);
    }
    await kit.locks.release(where, guard());
    kit.sent.elect.length = 0;
  };

  it('sends an elect message for a full Target, also if it is repeated (H7)', async () => {
    await inFlight(1, 1);
    const deps = capped({ perTarget: 1 });
    await releaseSlots(deps, batch());
    expect((await lock()).inFlight).toBeUndefined();
    await releaseSlots(deps, batch());
    expect(kit.sent.elect).toEqual([
      { kind: 'elect', target: where, wake: 1 },
      { kind: 'elect', target: where, wake: 1 },
    ]);
  });

  it('sends an elect message though the cap has free slots now (H7)', async () => {
    await inFlight(1, 2);
    await releaseSlots(capped({ perTarget: 3 }), batch());
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    kit.sent.elect.length = 0;
    // The configuration has no cap any more. The batch shows that its slot is in the lock.
    await releaseSlots(kit, { ...batch(), targetPage: 0 });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    await releaseSlots(kit, batch());
    expect(kit.sent.elect).toHaveLength(1);
  });

  it('sends no elect message if no task waits or the Target has a leader (H7)', async () => {
    await inFlight(1, 2);
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: NOW, until: NOW + 9 });
    await releaseSlots(capped({ perTarget: 1 }), batch());
    expect(kit.sent.elect).toEqual([]);
    await kit.locks.release(where, guard(2));
    await kit.waiting.remove(
      where,
      (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
    );
    await releaseSlots(capped({ perTarget: 1 }), batch());
    expect(kit.sent.elect).toEqual([]);
  });

  describe('with a slot queue', () => {
    const deps = () => capped({ perTarget: 1, total: 1 });
    beforeEach(async () => {
      await inFlight(1, 1);
      await kit.operations.takeSlot(SHIP, slotOf(where, 1, 1), 1);
      await kit.operations.enqueue(SHIP, waits(-1));
      kit.chance = 0;
    });
    const isInLine = async () => {
      const [first] = await kit.waiting.first(where, 1);
      expect(await lock()).toMatchObject({ fence: 1, blocked: first?.at });
      expect(await waiting()).toEqual([{ target: where, at: first?.at, fence: 1, by: expect.any(String) }]);
    };

    it('queues its Target behind the others (H7)', async () => {
      await releaseSlots(deps(), batch());
      expect(woken()).toEqual([elsewhere(-1)]);
      await isInLine();
      // A new task does not let the Target overtake the others.
      await electLeader(deps(), { kind: 'elect', target: where });
      expect((await lock()).holder).toBeUndefined();
    });

    it.each(['waiting', 'enqueue', 'freeSlot'] as const)(
      'queues its Target again after a stop at %s (H7)',
      async (at) => {
        const stops = {
          ...deps(),
          operations: { ...kit.operations, [at]: () => Promise.reject(new Error('throttled')) },
        };
        await expect(releaseSlots(stops, batch())).rejects.toThrow('throttled');
        await releaseSlots(deps(), batch());
        expect(woken()).toEqual([elsewhere(-1)]);
        await isInLine();
      },
    );

    it('keeps its Target queued if it returned early (W3)', async () => {
      const at = (await kit.waiting.first(where, 1))[0]?.at ?? 0;
      await clean();
      await kit.operations.enqueue(SHIP, { target: where, at, fence: 1, by: token('before') });
      const dequeue: StepKit['operations']['dequeue'] = async (operation, each) => {
        // The Target was woken while it was full. That is over now, and its batch ends.
        if (each.by === 'before') {
          kit.sent.elect.length = 0;
          await kit.operations.enqueue(SHIP, waits(-1));
          await releaseSlots(deps(), batch());
        }
        return kit.operations.dequeue(operation, each);
      };
      await wake({ ...deps(), operations: { ...kit.operations, dequeue } }, SHIP);
      expect(woken()).toEqual([elsewhere(-1)]);
      expect(await waiting()).toEqual([{ target: where, at, fence: 1, by: expect.any(String) }]);
    });

    it('wakes its Target if led meanwhile and not empty (H7)', async () => {
      const blockUnled = async () => false;
      await releaseSlots({ ...deps(), locks: { ...kit.locks, blockUnled } }, batch());
      expect(woken()).toEqual([where, elsewhere(-1)]);
      await kit.operations.enqueue(SHIP, waits(-2));
      await kit.waiting.remove(
        where,
        (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
      );
      await releaseSlots(deps(), batch());
      expect(woken()).toEqual([where, elsewhere(-1), elsewhere(-2)]);
      expect((await lock()).blocked).toBeUndefined();
    });

    it('wakes its Target if another function blocked it (H7)', async () => {
      const enqueue = () => Promise.reject(new Error('crash'));
      let isFirst = true;
      const first: StepKit['waiting']['first'] = async (...asked) => {
        if (isFirst) {
          isFirst = false;
          const crashes = { ...deps(), operations: { ...kit.operations, enqueue } };
          await expect(releaseSlots(crashes, batch())).rejects.toThrow('crash');
          await kit.operations.dequeue(SHIP, waits(-1));
        }
        return kit.waiting.first(...asked);
      };
      await releaseSlots({ ...deps(), waiting: { ...kit.waiting, first } }, batch());
      expect((await lock()).blocked).toBeDefined();
      for (const message of kit.sent.elect.splice(0)) await electLeader(deps(), message);
      expect(await lock()).toMatchObject({ fence: 2, holder: expect.any(String) });
    });

    it('wakes its Target if a leader of it crashed (H7)', async () => {
      const capTwo = capped({ perTarget: 2, total: 1 });
      await kit.locks.blockUnled(where, { fence: 1, at: NOW });
      await electLeader(capTwo, { kind: 'elect', target: where, wake: 1 });
      const led = await lock();
      expect(led).toMatchObject({ fence: 2, holder: expect.any(String), blocked: NOW });
      kit.now = led.lockedUntil + CLOCK_SKEW + 1;
      await releaseSlots(capTwo, batch());
      expect(woken()).toEqual([where, elsewhere(-1)]);
      expect(await waiting()).toEqual([]);
    });

    it('wakes its Target if no other Target waits (H7)', async () => {
      await kit.operations.dequeue(SHIP, waits(-1));
      // A leftover row of the Target itself.
      await kit.operations.enqueue(SHIP, { target: where, at: NOW, fence: 0 });
      await releaseSlots(deps(), batch());
      expect(kit.sent.elect).toEqual([
        { kind: 'elect', target: where, wake: 1 },
        { kind: 'elect', target: where, wake: 0 },
      ]);
      expect((await lock()).blocked).toBeUndefined();
    });
  });

  it('releases its slot and wakes a waiting Target unless paused (H7)', async () => {
    const deps = capped({ total: 3 });
    await kit.operations.takeSlot(SHIP, slotOf(where, 1, 1), 3);
    for (const n of [1, 2]) await kit.operations.enqueue(SHIP, waits(n));
    kit.chance = 0;
    await releaseSlots(deps, batch());
    expect([(await state()).inFlight, woken()]).toEqual([[], [elsewhere(1)]]);
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    await releaseSlots(deps, batch());
    expect(woken()).toEqual([elsewhere(1)]);
    await clean();
    await kit.operations.enqueue(SHIP, waits(3));
    await releaseSlots(kit, batch());
    expect(woken()).toEqual([elsewhere(1)]);
  });
});

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
    await kit.operations.resume(SHIP, 'pause');
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
