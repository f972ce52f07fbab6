/** Room in an operation: who takes it, gives it back, waits for it, and is waked for it. */
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

/** The operation's rows are shared by the tests of a file. */
const clean = async (): Promise<void> => {
  const { inFlight, paused } = await state();
  for (const slot of inFlight) await kit.operations.freeSlot(SHIP, slot);
  if (paused) await kit.operations.resume(SHIP, paused.id);
  await kit.operations.resetFailures(SHIP);
  for (const each of await waiting()) await kit.operations.dequeue(SHIP, each);
};

suite('room', () => {
  beforeEach(clean);

  it('is taken once for a batch, and not while the operation is paused', async () => {
    const take = (n: number, total: number | null = 1) =>
      takeOperationSlot(capped({ total }), elsewhere(n), slotOf(elsewhere(n), 1, 1));
    expect([await take(1), await take(1), await take(2), await take(2, null)]).toEqual([0, 0, undefined, 0]);
    expect((await state()).inFlight).toEqual([slotOf(elsewhere(1), 1, 1)]);
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    expect([await take(1), await take(2, null)]).toEqual([undefined, undefined]);
  });

  it('is waited for in a row that is there before anybody looks whether there is some', async () => {
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
    // It goes once somebody leads.
    expect(await waiting()).toEqual([waits(1)]);
  });
});

suite('wake', () => {
  beforeEach(clean);

  it('W1–W3: wakes one of the ten oldest by a message, and only then takes its row', async () => {
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

  it('W3: sends one signal, though somebody else takes the row meanwhile: the second signal to one Target is passed on', async () => {
    for (const n of [1, 2]) await kit.operations.enqueue(SHIP, waits(n));
    kit.chance = 0;
    const elect: StepKit['queues']['elect'] = async (messages) => {
      await kit.operations.dequeue(SHIP, waits(1));
      return kit.queues.elect(messages);
    };
    expect(await wake({ ...kit, queues: { ...kit.queues, elect } }, SHIP)).toBe(true);
    expect(woken()).toEqual([elsewhere(1)]);
    // The first signal had it led.
    await kit.locks.acquire(elsewhere(1), { ...guard(2), seen: { fence: 0 }, now: NOW, until: NOW });
    await electLeader(capped({ total: 1 }), { kind: 'elect', target: elsewhere(1), wake: 1 });
    expect(woken()).toEqual([elsewhere(1), elsewhere(2)]);
    expect(await wake(kit, SHIP)).toBe(false);
  });

  it('wakes as many as there is room for, the oldest first; one only while a circuit is half open', async () => {
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

suite('a resume of an operation', () => {
  beforeEach(clean);

  it('ends the pause of its name, wakes who waits, and may be repeated', async () => {
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

suite('the tail of a batch', () => {
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

  it('H7: asks for a leader of a Target that was full, again where it may have stopped before that', async () => {
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

  it('H7: asks for a leader though there was room by the cap as it is now: its leader may have known a smaller one', async () => {
    await inFlight(1, 2);
    await releaseSlots(capped({ perTarget: 3 }), batch());
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    kit.sent.elect.length = 0;
    // There is no cap any more; the batch shows that it is in the lock.
    await releaseSlots(kit, { ...batch(), targetPage: 0 });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    await releaseSlots(kit, batch());
    expect(kit.sent.elect).toHaveLength(1);
  });

  it('H7: asks for none where nobody waits, or somebody leads', async () => {
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

  describe('of which others wait for the slot', () => {
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

    it('H7: lets its Target wait behind them', async () => {
      await releaseSlots(deps(), batch());
      expect(woken()).toEqual([elsewhere(-1)]);
      await isInLine();
      // A task more does not let it pass them.
      await electLeader(deps(), { kind: 'elect', target: where });
      expect((await lock()).holder).toBeUndefined();
    });

    it.each(['waiting', 'enqueue', 'freeSlot'] as const)('H7: does so again where it stopped at %s', async (at) => {
      const stops = {
        ...deps(),
        operations: { ...kit.operations, [at]: () => Promise.reject(new Error('throttled')) },
      };
      await expect(releaseSlots(stops, batch())).rejects.toThrow('throttled');
      await releaseSlots(deps(), batch());
      expect(woken()).toEqual([elsewhere(-1)]);
      await isInLine();
    });

    it('W3: still waits if it came back before the row of its earlier wait was removed', async () => {
      const at = (await kit.waiting.first(where, 1))[0]?.at ?? 0;
      await clean();
      await kit.operations.enqueue(SHIP, { target: where, at, fence: 1, by: token('before') });
      const dequeue: StepKit['operations']['dequeue'] = async (operation, each) => {
        // Woken while it was full: that is over now, and its batch ends.
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

    it('H7: has it led where somebody led it meanwhile, and leaves it where it has no work', async () => {
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

    it('H7: has it led where another function of the same batch blocked it meanwhile, and crashed', async () => {
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

    it('H7: has it led where a leader crashed while it was blocked, and puts no row in line that names its fence', async () => {
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

    it('H7: has it led once nobody else waits', async () => {
      await kit.operations.dequeue(SHIP, waits(-1));
      // A row of its own that is left over.
      await kit.operations.enqueue(SHIP, { target: where, at: NOW, fence: 0 });
      await releaseSlots(deps(), batch());
      expect(kit.sent.elect).toEqual([
        { kind: 'elect', target: where, wake: 1 },
        { kind: 'elect', target: where, wake: 0 },
      ]);
      expect((await lock()).blocked).toBeUndefined();
    });
  });

  it('H7: gives its slot back and wakes one who waits, full or not, but not while the operation is paused', async () => {
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

  it('leaves a slot to a leader who may open its batch yet, however long he stood still', async () => {
    await took();
    kit.now += 3_600_000;
    expect(await swept()).toBe(false);
    await open();
    expect(await swept()).toBe(false);
    await form();
    await kit.locks.closeBatch(where, id());
    expect(await swept()).toBe(false);
  });

  it('gives a slot back whose batch is over, and says so', async () => {
    await took();
    await open();
    await kit.batches.seal(await form(), [], NOW, 1_000);
    expect(await swept()).toBe(true);
    expect(kit.events).toContainEqual({ event: 'slot-freed', operation: 'ship', slot: mine() });
  });

  it('gives a slot back whose batch was never opened by who took it', async () => {
    await took();
    await kit.locks.release(where, guard());
    expect(await swept()).toBe(true);
    await kit.operations.takeSlot(SHIP, mine(), 3);
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: NOW, until: NOW });
    expect(await swept()).toBe(true);
  });

  it('wakes who waits as far as there is room then, and nobody while the operation is paused', async () => {
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

  it('wakes all who wait once the operation has no cap any more', async () => {
    for (const n of [1, 2, 3]) await kit.operations.enqueue(SHIP, waits(n));
    await sweepSlots(capped({ total: null }), always);
    expect(woken()).toEqual([elsewhere(1), elsewhere(2), elsewhere(3)]);
  });

  it('asks again for the end of a pause that should have ended by itself', async () => {
    const circuit = { id: 'circuit', by: 'circuit', since: NOW, until: NOW + 30_000 } as const;
    await kit.operations.pause(SHIP, circuit);
    kit.now = circuit.until + 60_000;
    await sweepSlots(kit, always);
    expect(kit.sent.resume).toEqual([]);
    kit.now += 600_000;
    await sweepSlots(kit, always);
    expect(kit.sent.resume).toEqual([{ kind: 'resume', operation: 'ship', resume: 'circuit', delay: 0 }]);
  });

  it('goes on with the other operations where one fails, and then says so', async () => {
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
