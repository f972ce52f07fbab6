import { beforeEach, describe, expect, it } from 'vitest';
import { membersOf } from '../../src/domain/batches/batch.ts';
import { NO_LOCK } from '../../src/domain/batches/lock.ts';
import type { GroupMessage } from '../../src/domain/batches/messages.ts';
import { batchIdOf, type TaskId, type Token } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { LEASE, STINT } from '../../src/domain/timings.ts';
import { OutOfTime } from '../../src/steps/contention.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import {
  aConfig,
  aPolicy,
  aTask,
  registeredCandidate as candidate,
  id,
  candidate as leftBehind,
  NOW,
  operationName,
  target,
  token,
} from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { depot, guard, kit, led, lock, message, registered, suite, where } from './step-suite.ts';

suite('the group function', () => {
  it('seals batch after batch in one invocation, then releases the lock (G5)', async () => {
    const tasks = await led(10);
    await group(kit, guard(), PLENTY);
    expect(kit.sent.batch.map(({ batchId: each }) => each)).toEqual([batchIdOf(where, 1, 1), batchIdOf(where, 1, 2)]);
    expect(await kit.waiting.first(where, 99)).toHaveLength(2);
    kit.now = NOW + 5_000;
    const { holder: next } = await lock();
    await group(kit, { ...guard(2), token: next as Token }, PLENTY);
    expect(kit.events.filter(({ event }) => event === 'sealed')).toMatchObject([
      { because: 'full', size: 4 },
      { because: 'full', size: 4 },
      { because: 'waited', size: 2, waited: 5_000 },
    ]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
    const { holder, openBatch } = await lock();
    expect([holder, openBatch]).toEqual([undefined, undefined]);
    for (const task of tasks) expect((await kit.tasks.get(task))?.state.status).toBe('batched');
  });

  it('ignores a message that no leader of the Target sent', async () => {
    await registered(4);
    for (const fence of [Number.MAX_SAFE_INTEGER, 2 ** 40]) await group(kit, guard(fence), PLENTY);
    expect(kit.events.filter(({ event }) => event === 'foreign-message')).toHaveLength(2);
    expect(await lock()).toEqual(NO_LOCK);
    await electLeader(kit, { kind: 'elect', target: where });
    await group(kit, guard(), PLENTY);
    expect(kit.sent.batch.map(({ batchId: each }) => each)).toEqual([batchIdOf(where, 1, 1)]);
  });

  it("sleeps for less than a second; a longer wait is the next guard's (G4)", async () => {
    await led(1);
    kit.now = NOW + 4_500;
    await group(kit, guard(), PLENTY);
    expect(kit.now).toBe(NOW + 5_000);
    expect(kit.sent.batch).toHaveLength(1);
    await register(kit, [message(7)]);
    await electLeader(kit, { kind: 'elect', target: where });
    const held = await lock();
    await group(kit, { target: where, fence: held.fence, token: held.holder as never }, PLENTY);
    expect(await lock()).toMatchObject({ fence: held.fence + 1, lockedUntil: kit.now + 5_000 + LEASE });
  });

  it('hands over when its own time is short, even if a batch is due (G4)', async () => {
    await led(4);
    await group(kit, guard(), { ...PLENTY, timeLeft: () => 5_000 });
    expect(kit.sent.batch).toEqual([]);
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 0 });
    await group(kit, guard(2), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('seals a full batch on a hint, and otherwise does nothing (G1, G4, G6)', async () => {
    await led(2);
    const before = await lock();
    await group(kit, guard(1, true), PLENTY);
    await group(kit, { ...guard(2, true) }, PLENTY);
    expect(await lock()).toEqual(before);
    expect(kit.sent.batch).toEqual([]);
    await register(kit, [message(2), message(3)]);
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('sends a hint again for a task that expires before the guard is due (G4)', async () => {
    await led(1);
    const expiring = { ...aTask({ id: id(`${depot}-expiring`), target: where, startBy: NOW + 2_000 }), run: 1 };
    await kit.waiting.put([expiring]);
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(1, true), delay: 3 });
    const sent = kit.sent.group.length;
    kit.now = NOW + 3_000;
    await group(kit, guard(1, true), PLENTY);
    expect(await kit.waiting.first(where, 9)).toHaveLength(1);
    expect(kit.sent.group).toHaveLength(sent);
  });

  it('finishes an open batch on a hint only if that is delivered again (G1)', async () => {
    await led(4);
    const form = async (): Promise<never> => {
      throw new Error('throttled');
    };
    const throttled = { ...kit, batches: { ...kit.batches, form } };
    await expect(group(throttled, guard(1, true), PLENTY)).rejects.toThrow('throttled');
    await group(kit, guard(1, true), PLENTY);
    expect(kit.sent.batch).toEqual([]);
    await group(kit, guard(1, true), { ...PLENTY, deliveries: 2 });
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('recognizes a batch that it opened itself if the write is repeated (G5)', async () => {
    await led(4);
    const openBatch: StepKit['locks']['openBatch'] = async (...args) => {
      await kit.locks.openBatch(...args);
      return kit.locks.openBatch(...args);
    };
    await group({ ...kit, locks: { ...kit.locks, openBatch } }, guard(1, true), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('ignores the leftover row of an earlier task with the same id (F1)', async () => {
    const [task] = await led(3);
    await kit.waiting.put([{ ...aTask({ id: task as TaskId, target: where, createdAt: NOW - 9_000_000 }), run: 1 }]);
    await group(kit, guard(), PLENTY);
    const batch = await kit.batches.get(batchIdOf(where, 1, 1));
    expect(batch && [membersOf(batch).length, batch.dropped]).toEqual([3, [leftBehind(task as TaskId)]]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it('ends on a guard that was used before, or with another token (G6)', async () => {
    await led(4);
    await group(kit, guard(1), PLENTY);
    const before = await lock();
    for (const late of [guard(1), { ...guard(1), token: token('other') }]) await group(kit, late, PLENTY);
    expect(await lock()).toEqual(before);
  });

  it('repeats an early guard with growing delays until the lease ends (G7)', async () => {
    await led(4);
    const { lockedUntil } = await lock();
    kit.now = lockedUntil - LEASE;
    let next: GroupMessage = guard(2);
    const delays: number[] = [];
    for (let sent = kit.sent.group.length; ; sent += 1) {
      await group(kit, next, PLENTY);
      const { delay, ...again } = kit.sent.group[sent] ?? { delay: 0, ...guard() };
      if ((await lock()).fence === 2) break;
      // Each early guard sends exactly one message. Otherwise guards would multiply for as long as the lock is held.
      expect(kit.sent.group).toHaveLength(sent + 1);
      delays.push(delay);
      kit.now += delay * 1_000;
      next = again;
    }
    expect(delays).toEqual([1, 4, 16, 24]);
    expect(kit.now).toBeGreaterThan(lockedUntil);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('goes on with an early guard once the hand-over is written (G7)', async () => {
    await led(4);
    const token2 = token('token-2');
    const { flushedAt: _, ...held } = await lock();
    const sleep: StepKit['machine']['sleep'] = async (span) => {
      kit.now += span;
      await kit.locks.handOver(where, guard(), { token: token2, seen: held, now: kit.now, until: kit.now + LEASE });
    };
    const before = kit.sent.group.length;
    await group({ ...kit, machine: { ...kit.machine, sleep } }, { ...guard(2), token: token2 }, PLENTY);
    expect(kit.sent.group).toHaveLength(before);
    expect(kit.sent.batch).toHaveLength(1);
  });

  it('hands over after a stint even if more is due (G4)', async () => {
    await led(12);
    const claim: StepKit['tasks']['claim'] = (candidates, batch) => {
      kit.now += STINT / 2;
      return kit.tasks.claim(candidates, batch);
    };
    await group({ ...kit, tasks: { ...kit.tasks, claim } }, guard(), PLENTY);
    expect(kit.sent.batch).toHaveLength(2);
    expect(kit.sent.group.at(-1)).toEqual({ ...guard(2), delay: 0, token: expect.any(String) });
    expect((await lock()).fence).toBe(2);
  });

  it('takes the lock on a due guard, or skips its fence without tasks (G8)', async () => {
    await registered(4);
    await group(kit, guard(1), PLENTY);
    expect(kit.sent.batch).toHaveLength(1);
    expect((await lock()).fence).toBe(1);
    await group(kit, guard(2), PLENTY);
    expect(await lock()).toMatchObject({ fence: 2 });
    expect((await lock()).holder).toBeUndefined();
  });

  it('takes over with a higher fence, as after a restore of the table (G8)', async () => {
    await registered(4);
    await group(kit, guard(41), PLENTY);
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: batchIdOf(where, 41, 1), delay: 0 }]);
  });

  it('leads again for a task that is registered during the release (G9)', async () => {
    await led(4);
    const release: StepKit['locks']['release'] = async (...args) => {
      const done = await kit.locks.release(...args);
      await register(kit, [message(9)]);
      return done;
    };
    await group({ ...kit, locks: { ...kit.locks, release } }, guard(), PLENTY);
    expect(await lock()).toMatchObject({ fence: 2, lockedUntil: NOW + 5_000 + LEASE });
    expect(kit.sent.group.at(-1)).toMatchObject({ fence: 2, delay: 5 });
  });

  it('settles expired and superseded tasks before it seals a batch (G2)', async () => {
    await register(kit, [
      message(0, { expiresIn: '1s' }),
      message(1, { coalesceKey: 'k' }),
      message(2, { coalesceKey: 'k' }),
      message(3),
    ]);
    await electLeader(kit, { kind: 'elect', target: where });
    kit.now += 5_000;
    await group(kit, guard(), PLENTY);
    expect((await kit.batches.get(batchIdOf(where, 1, 1)))?.candidates).toEqual(
      [2, 3].map((n) => candidate(`${depot}-${n}`)),
    );
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ error: { code: 'expired' } });
    expect((await kit.tasks.get(id(`${depot}-1`)))?.state).toMatchObject({ supersededBy: `${depot}-2` });
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it('releases the lock of a paused Target and leaves the tasks waiting (G3)', async () => {
    await led(4);
    await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW });
    await group(kit, guard(), PLENTY);
    expect(kit.sent.batch).toEqual([]);
    expect((await lock()).holder).toBeUndefined();
    expect(await kit.waiting.first(where, 9)).toHaveLength(4);
  });

  describe('with a cap', () => {
    const other = target('ship/depot=elsewhere');
    const ship = operationName('ship');
    /** The tests share the operation's row, so each test starts without slots and waiting Targets. */
    const capped = (total = 1): StepKit => ({
      ...kit,
      config: aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), concurrency: { perTarget: null, total } }),
    });
    const taken = slotOf(other, 1, 1);
    const waiting = () => kit.operations.waiting(ship, 99);
    beforeEach(async () => {
      for (const slot of (await kit.operations.read(ship)).inFlight) await kit.operations.freeSlot(ship, slot);
      for (const each of await waiting()) await kit.operations.dequeue(ship, each);
    });

    it('takes a slot before it opens a batch (G5a)', async () => {
      await led(4);
      await group(capped(), guard(), PLENTY);
      expect((await kit.operations.read(ship)).inFlight).toEqual([slotOf(where, 1, 1)]);
      expect(kit.sent.batch).toHaveLength(1);
    });

    it('queues and unlocks the Target if no slot is free (G5b, G9a)', async () => {
      await kit.operations.takeSlot(ship, taken, 1);
      await led(4);
      await group(capped(), guard(), PLENTY);
      expect(kit.sent.batch).toEqual([]);
      const { holder, blocked, fence } = await lock();
      expect([holder, blocked, fence]).toEqual([undefined, NOW, 1]);
      expect(await waiting()).toEqual([{ target: where, at: NOW, fence: 1, by: expect.any(String) }]);
      expect(kit.events.filter(({ event }) => event === 'blocked')).toHaveLength(1);
      // The guard is delivered once more.
      await group(capped(), guard(), PLENTY);
      expect(await waiting()).toHaveLength(1);
    });

    it('leads if a slot is freed while it queues the Target (G9a)', async () => {
      await kit.operations.takeSlot(ship, taken, 1);
      await led(4);
      const rowAtAcquire: number[] = [];
      const operations: StepKit['operations'] = {
        ...kit.operations,
        enqueue: async (...args) => {
          await kit.operations.freeSlot(ship, taken);
          return kit.operations.enqueue(...args);
        },
      };
      const acquire: StepKit['locks']['acquire'] = async (...args) => {
        rowAtAcquire.push((await waiting()).length);
        return kit.locks.acquire(...args);
      };
      await group({ ...capped(), operations, locks: { ...kit.locks, acquire } }, guard(), PLENTY);
      expect(rowAtAcquire).toEqual([1]);
      expect(await waiting()).toEqual([]);
      expect(await lock()).toMatchObject({ fence: 2, blocked: NOW });
      await group(capped(), { ...guard(2), token: (await lock()).holder as Token }, PLENTY);
      expect(kit.sent.batch).toHaveLength(1);
      expect((await lock()).blocked).toBeUndefined();
    });

    it('unblocks a Target without tasks on the next guard (G8)', async () => {
      await kit.operations.takeSlot(ship, taken, 1);
      await led(4);
      await group(capped(), guard(), PLENTY);
      await kit.waiting.remove(
        where,
        (await kit.waiting.first(where, 9)).map(({ entry }) => entry),
      );
      await group(capped(), guard(2), PLENTY);
      expect(await lock()).toMatchObject({ fence: 2 });
      const { holder, blocked } = await lock();
      expect([holder, blocked]).toEqual([undefined, undefined]);
    });

    it.each([
      ['no task waits any more', 0],
      ['the waiting task is not due', 1],
    ])('wakes the next Target if %s (G3, G4)', async (_, left) => {
      await kit.operations.takeSlot(ship, taken, 1);
      await led(4);
      await group(capped(), guard(), PLENTY);
      const rows = await kit.waiting.first(where, 9);
      await kit.waiting.remove(
        where,
        rows.slice(left).map(({ entry }) => entry),
      );
      for (const each of await waiting()) await kit.operations.dequeue(ship, each);
      await kit.operations.freeSlot(ship, taken);
      await kit.operations.enqueue(ship, { target: other, at: NOW, fence: 7 });
      await electLeader(capped(), { kind: 'elect', target: where, wake: 1 });
      kit.sent.elect.length = 0;
      const { delay, ...next } = kit.sent.group.at(-1) as StepKit['sent']['group'][number];
      expect(delay).toBe(0);
      await group(capped(), next, PLENTY);
      expect(kit.sent.elect).toEqual([{ kind: 'elect', target: other, wake: 7 }]);
      expect(await waiting()).toEqual([]);
      expect((await lock()).blocked).toBeUndefined();
    });
  });

  it('throws if its time runs out in a race, so that SQS retries', async () => {
    await led(1);
    kit.now = NOW + 5_000;
    const openBatch = async (): Promise<boolean> => false;
    let left = 20_000;
    const delivery = { ...PLENTY, timeLeft: () => (left -= 1_000) };
    const handOver = openBatch;
    await expect(group({ ...kit, locks: { ...kit.locks, openBatch, handOver } }, guard(), delivery)).rejects.toThrow(
      OutOfTime,
    );
  });
});
