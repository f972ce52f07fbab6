/** Slots of a Target whose cap needs several pages: how they are taken, reused after a leader died, and freed. */
import { expect, it } from 'vitest';
import { group } from '../../src/steps/lead/group.ts';
import { lookAtTarget } from '../../src/steps/repair/repair.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { isTargetFull, pagesOfTarget, takeTargetSlot } from '../../src/steps/slots/target-slots.ts';
import { NOW, token } from '../factories/factories.ts';
import { A_PAUSE, batch, capped, SHIP, slot } from './capped.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { guard, kit, led, lock, registered, suite, where } from './step-suite.ts';

suite("a Target's slots on pages", () => {
  const deps = () => capped({ perTarget: 12 });
  const layout = () => {
    const pages = pagesOfTarget(deps(), where, {});
    if (!pages) throw new Error('a cap of 12 does not fit one page');
    return pages;
  };
  const take = async (round: number, fence = 1) =>
    takeTargetSlot(deps(), where, await lock(), slot(round, fence), layout());
  const formed = (round: number) => {
    const rest = { sealedBy: 'full', candidates: [], oldestAt: NOW, createdAt: NOW } as const;
    return kit.batches.form({ id: batch(round), target: where, ...rest });
  };
  const leads = (fence: number) =>
    kit.locks.acquire(where, { ...guard(fence), seen: { fence: fence - 1 }, now: kit.now, until: kit.now });

  it('are as many as the cap; a cap of one page is kept in the lock', async () => {
    await registered(1);
    for (let round = 1; round <= 12; round += 1) {
      expect(await take(round)).toBeDefined();
      await formed(round);
    }
    expect(await take(13)).toBeUndefined();
    // Taking the same slot again is harmless.
    expect(await take(7)).toBeDefined();
    expect((await kit.locks.slotPages(where, 12)).flatMap((page) => page.slots)).toHaveLength(12);
    expect(pagesOfTarget(capped({ perTarget: 10 }), where, {})).toBeUndefined();
    expect(pagesOfTarget(capped({ perTarget: null }), where, {})).toBeUndefined();
  });

  it('stay taken if another delivery of the guard opened the batch', async () => {
    await led(4);
    const { operations, locks } = kit;
    let isOpened = false;
    const meanwhile = async () => {
      if (!isOpened) {
        isOpened = true;
        await locks.openBatch(where, guard(1), {
          batch: batch(),
          round: 1,
          by: token('other'),
          until: kit.now,
          perTarget: null,
        });
        await formed(1);
        await operations.pause(SHIP, A_PAUSE);
      }
    };
    const slow = {
      ...operations,
      read: async (...args: Parameters<typeof operations.read>) => meanwhile().then(() => operations.read(...args)),
    };
    await group({ ...deps(), operations: slow }, guard(1), PLENTY);
    await operations.resume(SHIP, A_PAUSE.id, NOW);
    expect(isOpened).toBe(true);
    expect((await locks.slotPages(where, 12)).flatMap(({ slots }) => slots)).toEqual([slot(1)]);
  });

  it('of a leader that died before it opened its batch are reused', async () => {
    await registered(1);
    for (let n = 0; n < 12; n += 1) await kit.locks.takeSlot(where, slot(n + 1), 10, n < 10 ? 1 : 2);
    expect(await leads(1)).toBe(true);
    kit.now += 60_000;
    expect(await kit.locks.acquire(where, { ...guard(2), seen: await lock(), now: kit.now, until: kit.now })).toBe(
      true,
    );
    expect(await take(1, 2)).toBeDefined();
    const slots = (await kit.locks.slotPages(where, 12)).flatMap((page) => page.slots);
    expect(slots).toHaveLength(10);
    expect(slots).toContain(slot(1, 2));
  });

  it('of dead leaders do not keep a blocked Target waiting', async () => {
    await registered(1);
    for (let n = 0; n < 12; n += 1) await kit.locks.takeSlot(where, slot(n + 1, 0), 10, n < 10 ? 1 : 2);
    await leads(1);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    kit.sent.group.length = 0;
    await group(deps(), guard(), PLENTY);
    expect(await lock()).toMatchObject({ fence: 2 });
    expect(kit.sent.group).toMatchObject([{ target: where, fence: 2 }]);
  });

  it('wake a blocked Target when they are freed', async () => {
    await registered(1);
    await leads(1);
    for (let n = 0; n < 12; n += 1) await kit.locks.takeSlot(where, slot(n + 1), 10, n < 10 ? 1 : 2);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    kit.sent.elect.length = 0;
    const releaseSlot = (round: number, targetPage: number) =>
      releaseSlots(deps(), { id: batch(round), target: where, operation: SHIP, targetPage });
    for (let signals = 1; signals <= 3; signals += 1) {
      // The last one is already free: the function that freed it may have died before it woke the Target.
      await releaseSlot(Math.min(signals, 2), 1);
      expect(kit.sent.elect).toEqual(
        Array.from({ length: signals }, () => ({ kind: 'elect', target: where, wake: 1 })),
      );
    }
  });

  it('wake a blocked Target from a page with free slots too', async () => {
    await registered(1);
    await leads(1);
    // As many as the cap, some of them on a page that only a larger cap uses.
    for (let n = 0; n < 12; n += 1) await kit.locks.takeSlot(where, slot(n + 1), 10, n < 5 ? 1 : 5);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    kit.sent.elect.length = 0;
    await releaseSlots(deps(), { id: batch(1), target: where, operation: SHIP, targetPage: 1 });
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
  });

  it("are free after a dead leader's was freed by a repeated write", async () => {
    await led(1);
    await kit.locks.takeSlot(where, slot(7), 1, 1);
    const freeSlot: StepKit['locks']['freeSlot'] = async (...args) => {
      await kit.locks.freeSlot(...args);
      return kit.locks.freeSlot(...args);
    };
    const repeating = { ...kit, locks: { ...kit.locks, freeSlot } };
    const one = { cap: 1, size: 10, from: 1 };
    expect(await isTargetFull(repeating, where, await lock(), one)).toBe(false);
    expect(await kit.locks.slotPages(where, 1)).toEqual([expect.objectContaining({ slots: [] })]);
  });

  it('that are all taken block the Target, and no batch is sealed', async () => {
    await registered(4);
    for (let n = 0; n < 12; n += 1) {
      await kit.locks.takeSlot(where, slot(n + 1), 10, n < 10 ? 1 : 2);
      await formed(n + 1);
    }
    await group(deps(), guard(2), PLENTY);
    expect([(await lock()).blocked, (await lock()).openBatch]).toEqual([NOW, undefined]);
    expect(await lookAtTarget(deps(), where, NOW + 3_600_000)).toBeUndefined();
  });
});
