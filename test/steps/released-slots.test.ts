/** The end of a batch: its slots are released, and a Target that waits for one is woken. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type BatchId, batchIdOf, type Token } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { CLOCK_SKEW } from '../../src/domain/timings.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { wake } from '../../src/steps/slots/wake.ts';
import { NOW, token } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP, state, waiting, waits, woken } from './capped.ts';
import type { StepKit } from './step-kit.ts';
import { guard, kit, lock, registered, suite, where } from './step-suite.ts';

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
      expect(await waiting()).toEqual([{ batches: 1, target: where, at: first?.at, fence: 1, by: expect.any(String) }]);
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
      expect(await waiting()).toEqual([{ batches: 1, target: where, at, fence: 1, by: expect.any(String) }]);
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
