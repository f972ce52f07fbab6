/** Changes caps while batches are under way: every task ends, and the number of batches under way respects the cap. */
import { beforeEach, expect, it } from 'vitest';
import { isFinished } from '../../src/domain/batches/batch.ts';
import type { BatchMessage, GroupMessage } from '../../src/domain/batches/messages.ts';
import { type BatchId, batchIdOf, type TaskId } from '../../src/domain/ids.ts';
import { type Slot, slotOf } from '../../src/domain/operations/slots.ts';
import { MINUTE, SECOND } from '../../src/domain/timings.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import { lookAtTarget } from '../../src/steps/repair/repair.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { freeOperationSlot, freeSlotsOf, takeOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { aConfig, aPolicy, id, NOW, token } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP } from './capped.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, message, registered, suite, where } from './step-suite.ts';

suite('a changed Target cap', () => {
  const cappedAt = (perTarget: number | null): StepKit => ({
    ...kit,
    config: aConfig({ batch: aPolicy({ maxSize: 1, maxWait: 0 }), concurrency: { perTarget, total: null } }),
  });
  const ours = <Message extends { readonly target: unknown }>(sent: Message[]): Message[] =>
    sent.splice(0).filter(({ target }) => target === where);
  /** Delivers elect and group messages until the Target's leaders send no more. */
  const lead = async (deps: StepKit): Promise<void> => {
    for (let round = 0; round < 50; round += 1) {
      const [elects, guards] = [ours(kit.sent.elect), ours(kit.sent.group)];
      if (elects.length + guards.length === 0) return;
      for (const message of elects) await electLeader(deps, message);
      for (const { delay, ...message } of guards) {
        kit.now += delay * SECOND;
        await group(deps, message, PLENTY);
      }
    }
    throw new Error('the leaders send messages without end');
  };
  /** The guard that the Target's leader sent. */
  const guardNow = (): GroupMessage => {
    const [guard] = ours(kit.sent.group);
    if (!guard) throw new Error('the Target has no leader');
    const { delay: _, ...message } = guard;
    return message;
  };
  const underWay = async (): Promise<number> => {
    const { round } = await kit.locks.read(where);
    const ids = Array.from({ length: round }, (_, n) => n + 1);
    const fences = Array.from({ length: (await kit.locks.read(where)).fence }, (_, n) => n + 1);
    const all = await Promise.all(
      ids.flatMap((each) => fences.map((fence) => kit.batches.get(batchIdOf(where, fence, each)))),
    );
    return all.filter((batch) => batch && !isFinished(batch.status)).length;
  };
  /** Registers three more tasks under the given configuration. */
  const register3 = async (deps: StepKit): Promise<TaskId[]> => {
    const messages = [10, 11, 12].map((n) => message(n));
    await register(deps, messages);
    return messages.map((_, n) => id(`${where.split('=')[1]}-${10 + n}`));
  };
  const isOurs = (message: BatchMessage): boolean => message.batchId.startsWith(`${where}#`);

  /** Handles the batches under way and leads the Target, in turn, until no message is left. */
  const work = async (deps: StepKit): Promise<void> => {
    for (let round = 0; round < 60; round += 1) {
      const messages = kit.sent.batch.splice(0).filter(isOurs);
      if (messages.length === 0) return;
      for (const { delay: _, ...message } of messages) await handleBatch(deps, message as BatchMessage, PLENTY);
      await lead(deps);
    }
  };
  const statusesOf = async (ids: readonly TaskId[]) => (await kit.tasks.all(ids)).map(({ state }) => state.status);

  it.each([1, 2, 12])('from no cap to %s counts the batches under way', async (cap) => {
    const ids = await registered(3);
    await lead(cappedAt(null));
    expect(await underWay()).toBe(3);
    const more = await register3(cappedAt(cap));
    await lead(cappedAt(cap));
    expect(await underWay()).toBe(Math.max(3, Math.min(6, cap)));
    await work(cappedAt(cap));
    expect(await statusesOf([...ids, ...more])).toEqual(Array(6).fill('succeeded'));
    expect((await kit.locks.read(where)).inFlight).toBeUndefined();
  });

  it.each(['count', 'place'] as const)('counts every batch under way though the first %s fails', async (what) => {
    await registered(3);
    await lead(cappedAt(null));
    const deps = cappedAt(1);
    await register3(deps);
    let calls = 0;
    const failing = async <T>(work: Promise<T>): Promise<T> => {
      const done = await work;
      calls += 1;
      if (calls === 1) throw new Error('throttled');
      return done;
    };
    const place: StepKit['batches']['place'] = (batch) => failing(kit.batches.place(batch));
    const count: StepKit['locks']['count'] = (target, mine, batches) =>
      calls === 0 ? failing(Promise.resolve(true)) : kit.locks.count(target, mine, batches);
    const broken =
      what === 'place' ? { ...deps, batches: { ...kit.batches, place } } : { ...deps, locks: { ...kit.locks, count } };
    for (const message of ours(kit.sent.elect)) await electLeader(broken, message);
    const { delay, ...guard } = { delay: 0, ...guardNow() };
    kit.now += 40 * SECOND + delay;
    await expect(group(broken, guard, PLENTY)).rejects.toThrow('throttled');
    await group(broken, guard, PLENTY);
    expect([...((await kit.locks.read(where)).inFlight ?? [])]).toHaveLength(3);
    expect(await underWay()).toBe(3);
  });

  it('stops counting a batch that ends under the old cap meanwhile', async () => {
    const ids = await registered(2);
    await lead(cappedAt(null));
    const deps = cappedAt(1);
    const more = await register3(deps);
    const batches = {
      ...kit.batches,
      // The batches end after the leader has read them and before the lock counts them.
      place: async (id: BatchId) => {
        const isPlaced = await kit.batches.place(id);
        for (const { delay: _, ...message } of kit.sent.batch.splice(0).filter(isOurs))
          await handleBatch(cappedAt(null), message as BatchMessage, PLENTY);
        return isPlaced;
      },
    };
    await lead({ ...deps, batches });
    await work(deps);
    expect(await statusesOf([...ids, ...more])).toEqual(Array(5).fill('succeeded'));
    expect((await kit.locks.read(where)).inFlight).toBeUndefined();
  });

  it('from one to none and back to one soon opens batches again', async () => {
    const ids = await registered(2);
    await lead(cappedAt(1));
    await lead(cappedAt(null));
    for (const cap of [null, 1]) {
      const [message] = kit.sent.batch.splice(0, 1).filter(isOurs);
      if (!message) throw new Error('no batch is under way');
      const { delay: _, ...due } = message;
      await handleBatch(cappedAt(cap), due as BatchMessage, PLENTY);
      await lead(cappedAt(cap));
    }
    const more = await register3(cappedAt(1));
    await lead(cappedAt(1));
    expect(await underWay()).toBe(1);
    await work(cappedAt(1));
    expect(await statusesOf([...ids, ...more])).toEqual(Array(5).fill('succeeded'));
  });

  it.each([
    [1, 3],
    [1, null],
    [2, 5],
    [5, 12],
    [12, 20],
    [12, 5],
    [12, null],
  ])('from %s to %s leaves no task behind', async (before, after) => {
    const ids = await registered(30);
    await lead(cappedAt(before));
    expect(await underWay()).toBe(before);
    const deps = cappedAt(after);
    for (let round = 0; round < 60; round += 1) {
      const messages = kit.sent.batch.splice(0).filter(isOurs);
      if (messages.length === 0) break;
      for (const { delay: _, ...message } of messages) await handleBatch(deps, message as BatchMessage, PLENTY);
      await lead(deps);
    }
    const ended = (await kit.tasks.all(ids)).map(({ state }) => state.status);
    expect(ended).toEqual(ids.map(() => 'succeeded'));
    expect((await kit.locks.read(where)).inFlight).toBeUndefined();
  });

  it.each([
    [12, 10],
    [12, 1],
    [22, 12],
  ])('from %s to %s opens no batch until fewer than that are under way', async (before, after) => {
    await registered(40);
    await lead(cappedAt(before));
    const deps = cappedAt(after);
    const messages = kit.sent.batch.splice(0).filter(isOurs);
    expect(messages).toHaveLength(before);
    for (const [n, { batchId }] of messages.entries()) {
      await handleBatch(deps, { kind: 'due', batchId: batchId as BatchId }, PLENTY);
      await lead(deps);
      expect(await underWay()).toBe(Math.max(after, before - n - 1));
    }
  });

  it('lets a woken full Target wake the next one before it is blocked again', async () => {
    await registered(15);
    const deps = cappedAt(12);
    await lead(deps);
    const { blocked, fence } = await kit.locks.read(where);
    expect(blocked).toBeDefined();
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    kit.sent.elect.length = 0;
    await electLeader(deps, { kind: 'elect', target: where, wake: fence });
    const message = guardNow();
    const block = () => Promise.reject(new Error('the function ends here'));
    await expect(group({ ...deps, locks: { ...deps.locks, block } }, message, PLENTY)).rejects.toThrow('ends here');
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: elsewhere(1), wake: 3 }]);
    await group(deps, message, PLENTY);
    expect((await kit.locks.read(where)).blocked).toBe(blocked);
  });

  it('lets a woken Target without tasks wake the next one before it ends', async () => {
    await registered(15);
    const deps = cappedAt(12);
    await lead(deps);
    const { fence } = await kit.locks.read(where);
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    kit.sent.elect.length = 0;
    await electLeader(deps, { kind: 'elect', target: where, wake: fence });
    const rows = await kit.waiting.first(where, 15);
    await kit.waiting.remove(
      where,
      rows.map(({ entry }) => entry),
    );
    const message = guardNow();
    const release = () => Promise.reject(new Error('the function ends here'));
    await expect(group({ ...deps, locks: { ...deps.locks, release } }, message, PLENTY)).rejects.toThrow('ends here');
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: elsewhere(1), wake: 3 }]);
  });

  it('from 200 to 12 lets the patrol find a stuck slot on an old page', async () => {
    await registered(1);
    await lead(cappedAt(200));
    const left = slotOf(where, 1, 900);
    await kit.locks.takeSlot(where, left, 10, 17);
    const found = await lookAtTarget(cappedAt(12), where, kit.now + 24 * 60 * MINUTE);
    expect(found).toMatchObject({ finding: 'stuck-slot' });
  });

  it('is recorded as the largest one if a function took a slot on its pages', async () => {
    await registered(1);
    const deps = cappedAt(12);
    const [message] = kit.sent.elect.splice(0);
    if (message) await electLeader(deps, message);
    const { fence } = await kit.locks.read(where);
    const slot = slotOf(where, fence, 1);
    await kit.locks.takeSlot(where, slot, 10, 3);
    await lead(deps);
    expect((await kit.locks.read(where)).largestCap).toBe(30);
  });

  it('wakes the Target if a slot in its lock is freed after it was full', async () => {
    await registered(4);
    const deps = cappedAt(11);
    const [message] = kit.sent.elect.splice(0);
    if (message) await electLeader(deps, message);
    const mine = guardNow();
    // Release 0.2.0 stores eleven slots in the lock in this way.
    for (let round = 1; round <= 11; round += 1) {
      const batch = batchIdOf(where, mine.fence, round);
      await kit.locks.openBatch(where, mine, { batch, round, by: token(`${round}`), until: kit.now, perTarget: 11 });
      await kit.locks.closeBatch(where, batch);
    }
    kit.sent.elect.length = 0;
    let looked = false;
    const read: StepKit['locks']['read'] = async (target) => {
      const seen = await kit.locks.read(target);
      if (!looked) {
        looked = true;
        await group(deps, mine, PLENTY);
      }
      return seen;
    };
    const ended = { id: batchIdOf(where, mine.fence, 1), target: where, operation: SHIP };
    await releaseSlots({ ...deps, locks: { ...deps.locks, read } }, ended);
    expect(kit.sent.elect.map(({ target }) => target)).toEqual([where]);
  });
});

suite('a changed operation cap', () => {
  const mine = (n: number): Slot => slotOf(elsewhere(n), 1, 1);
  const take = (total: number, n: number) => takeOperationSlot(capped({ total }), elsewhere(n), mine(n));
  beforeEach(clean);

  it.each([
    [30, 5],
    [30, 12],
    [60, 5],
    [60, 12],
    [180, 40],
  ])('from %s to %s gives out no slot until fewer than that are taken', async (before, after) => {
    const pages: [n: number, page: number | undefined][] = [];
    for (let n = 0; n < before; n += 1) pages.push([n, await take(before, n)]);
    expect(await take(before, before)).toBeUndefined();
    // Free the slots of the first pages first: the smaller cap's pages are then empty while later pages still hold slots.
    const inTurn = pages.toSorted((a, b) => (a[1] ?? 0) - (b[1] ?? 0));
    const over = before - after;
    for (const [index, [n, page]] of inTurn.slice(0, over).entries()) {
      // Check at every tenth step only, because each check takes long.
      if (index % 10 === 0 || index === over - 1) {
        expect(await take(after, before)).toBeUndefined();
        expect((await freeSlotsOf(capped({ total: after }), SHIP)).free).toBe(0);
      }
      await freeOperationSlot(kit, SHIP, mine(n), page);
    }
    const [last, lastPage] = inTurn.at(-1) ?? [0, 0];
    expect(await take(after, last)).toBe(lastPage);
    await freeOperationSlot(kit, SHIP, mine(last), lastPage);
    // Exactly one of several concurrent requests takes the free slot.
    const others = Array.from({ length: 8 }, (_, n) => take(after, before + n));
    expect((await Promise.all(others)).filter((page) => page !== undefined)).toHaveLength(1);
    // A slot can be released without its page.
    for (let n = 0; n < before + 8; n += 1) await freeOperationSlot(kit, SHIP, mine(n));
    expect((await freeSlotsOf(capped({ total: after }), SHIP)).free).toBe(after);
  });

  it('is checked by strongly consistent reads if it was lowered', async () => {
    const reads: string[] = [];
    const late: StepKit['operations'] = {
      ...kit.operations,
      slotPages: (...asked) => {
        reads.push('now');
        return kit.operations.slotPages(...asked);
      },
      // This read does not yet show the slots that functions with the larger cap took last.
      slotPagesEventually: async () => {
        reads.push('behind time');
        return [];
      },
    };
    const takeLate = (total: number, n: number) =>
      takeOperationSlot({ ...capped({ total }), operations: late }, elsewhere(n), mine(n));
    expect(await takeLate(180, 0)).toBeDefined();
    expect(reads.splice(0)).toEqual(['behind time']);
    for (let n = 1; n < 15; n += 1) await kit.operations.takeSlot(SHIP, mine(n), 10, 1 + (n % 2));
    expect(await takeLate(12, 15)).toBeUndefined();
    expect(await takeLate(5, 15)).toBeUndefined();
    expect(reads).toEqual(['now', 'now']);
    for (let n = 0; n < 15; n += 1) await freeOperationSlot(kit, SHIP, mine(n));
  });

  it('that was raised makes further pages usable', async () => {
    for (let n = 0; n < 5; n += 1) expect(await take(5, n)).toBe(0);
    expect(await take(5, 5)).toBeUndefined();
    for (let n = 5; n < 30; n += 1) expect(await take(30, n)).toBeDefined();
    expect(await take(30, 30)).toBeUndefined();
    for (let n = 0; n < 30; n += 1) await freeOperationSlot(kit, SHIP, mine(n));
  });
});
