/** Slots that batches hold: lent during a pause of the Target, left by dead leaders, or swept with little time. */
import { beforeEach, expect, it } from 'vitest';
import type { DueMessage } from '../../src/domain/batches/messages.ts';
import { type BatchId, batchIdOf, parseCandidate } from '../../src/domain/ids.ts';
import { type Slot, slotOf } from '../../src/domain/operations/slots.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { group } from '../../src/steps/lead/group.ts';
import { lookAtTarget } from '../../src/steps/repair/repair.ts';
import { sweep } from '../../src/steps/repair/sweep.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { takeOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { takeOnPages } from '../../src/steps/slots/pages.ts';
import { resumeOperation } from '../../src/steps/slots/pauses.ts';
import { sweepSlots } from '../../src/steps/slots/sweep-slots.ts';
import { isTargetFull, pagesOfTarget, takeTargetSlot } from '../../src/steps/slots/target-slots.ts';
import { NOW, token } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP } from './capped.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { guard, kit, led, lock, registered, suite, where } from './step-suite.ts';

type DelayedDue = DueMessage & { readonly delay?: number };

const A_PAUSE = { id: 'pause', by: 'person', since: NOW - 60_000 } as const;
const state = () => kit.operations.read(SHIP);
const batch = (round = 1): BatchId => batchIdOf(where, 1, round);
const slot = (round = 1, fence = 1): Slot => slotOf(where, fence, round);

suite("a paused batch's slot", () => {
  beforeEach(clean);
  const sealed = async (deps: StepKit): Promise<void> => {
    await led(1);
    await deps.operations.takeSlot(SHIP, slot(), 1);
    await finishBatch(deps, where, batch());
    kit.sent.batch.length = 0;
    kit.sent.elect.length = 0;
  };

  it('is lent to a waiting Target; the batch waits for a slot to be called', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    await kit.locks.pause(where, A_PAUSE);
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect([(await state()).inFlight, kit.sent.elect]).toEqual([
      [],
      [{ kind: 'elect', target: elsewhere(1), wake: 3 }],
    ]);
    const others = slotOf(elsewhere(1), 3, 1);
    await kit.operations.takeSlot(SHIP, others, 1);
    await kit.locks.resume(where, A_PAUSE.id, NOW);
    kit.now += 3_600_000;
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect([kit.calls.length, (await state()).inFlight]).toEqual([0, [others]]);
    expect(await kit.operations.waiting(SHIP, 9)).toEqual([expect.objectContaining({ target: where, batch: batch() })]);
    // The other batch ends. This one is woken, takes the slot, and is called.
    kit.sent.batch.length = 0;
    await releaseSlots(deps, { id: batchIdOf(elsewhere(1), 3, 1), target: elsewhere(1), operation: SHIP });
    expect(kit.sent.batch).toEqual([expect.objectContaining({ kind: 'due', batchId: batch(), woken: true })]);
    await handleBatch(deps, { kind: 'due', batchId: batch(), woken: true }, PLENTY);
    expect([kit.calls.length, (await kit.batches.get(batch()))?.status, (await state()).inFlight]).toEqual([
      1,
      'succeeded',
      [],
    ]);
  });

  it('is lent though the operation is paused when the handler begins', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    await kit.locks.pause(where, A_PAUSE);
    await kit.operations.pause(SHIP, A_PAUSE);
    const freeSlot: StepKit['operations']['freeSlot'] = async (...slot) => {
      await resumeOperation(deps, { kind: 'resume', operation: SHIP, resume: A_PAUSE.id });
      return kit.operations.freeSlot(...slot);
    };
    await handleBatch(
      { ...deps, operations: { ...kit.operations, freeSlot } },
      { kind: 'due', batchId: batch() },
      PLENTY,
    );
    expect([(await state()).inFlight, kit.sent.elect]).toEqual([
      [],
      [{ kind: 'elect', target: elsewhere(1), wake: 3 }],
    ]);
  });

  it('is not reused if only an eventually consistent read still shows it', async () => {
    const deps = capped({ total: 12 });
    const other = slotOf(elsewhere(1), 3, 1);
    const { operations } = kit;
    for (let n = 0; n < 10; n += 1) await operations.takeSlot(SHIP, slotOf(elsewhere(n + 2), 1, 1), 10);
    await operations.takeSlot(SHIP, slot(), 2, 1);
    const behind = await operations.slotPages(SHIP, 12);
    await operations.freeSlot(SHIP, slot(), 1);
    await operations.takeSlot(SHIP, other, 2, 1);
    await operations.takeSlot(SHIP, slotOf(elsewhere(20), 1, 1), 2, 1);
    const late = { ...deps, operations: { ...operations, slotPagesEventually: async () => behind } };
    expect(await takeOperationSlot(late, where, slot())).toBeUndefined();
    for (const each of await operations.slotPage(SHIP, 1)) await operations.freeSlot(SHIP, each, 1);
  });

  it('is kept while the pause is new, as a copy may have seen no pause', async () => {
    const deps = capped({ total: 12 });
    await sealed(deps);
    await kit.operations.freeSlot(SHIP, slot());
    await kit.operations.takeSlot(SHIP, slot(), 2, 1);
    await kit.locks.pause(where, { ...A_PAUSE, since: kit.now });
    const held = { by: token('held'), span: Math.floor(kit.now / 900_000) };
    for (const [after, slots] of [
      [29_999, [slot()]],
      [1, []],
    ] as const) {
      kit.now += after;
      // The first invocation after that time looks on every page.
      await handleBatch(deps, { kind: 'due', batchId: batch(), held }, PLENTY);
      expect(await kit.operations.slotPage(SHIP, 1)).toEqual(slots);
    }
  });

  it('is kept while a job of the batch is under way', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    const [first] = (await kit.batches.get(batch()))?.candidates.map((each) => parseCandidate(each).id) ?? [];
    if (!first) throw new Error('the batch has no candidates');
    await kit.batches.start(batch(), {
      attempt: 1,
      countedAttempts: 1,
      token: token('run'),
      at: kit.now,
      runUntil: kit.now,
    });
    await kit.batches.postpone(batch(), 1, {
      countedAttempts: 1,
      counts: { succeeded: 0, failed: 0 },
      lastAttempt: { endedAt: kit.now, reason: 'put off' },
      retryAt: kit.now + 1_000,
      open: [],
      pending: { ids: [first], until: kit.now + 600_000 },
    });
    await kit.locks.pause(where, A_PAUSE);
    kit.now += 2_000;
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect((await state()).inFlight).toEqual([slot()]);
    kit.now += 600_000;
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect((await state()).inFlight).toEqual([]);
  });

  it('is awaited with one message, however often it is woken in vain', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    await kit.operations.freeSlot(SHIP, slot());
    await kit.operations.takeSlot(SHIP, slotOf(elsewhere(1), 3, 1), 1);
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect(kit.sent.batch).toMatchObject([{ batchId: batch(), delay: 60 }]);
    // Other batches are faster, then the Target is paused again, then another delivery runs.
    await handleBatch(deps, { kind: 'due', batchId: batch(), woken: true }, PLENTY);
    await kit.locks.pause(where, A_PAUSE);
    await handleBatch(deps, { kind: 'due', batchId: batch(), woken: true }, PLENTY);
    const run = { attempt: 1, countedAttempts: 1, token: token('run'), at: kit.now, runUntil: kit.now + 60_000 };
    await kit.batches.start(batch(), run);
    await handleBatch(deps, { kind: 'due', batchId: batch(), woken: true }, PLENTY);
    expect(kit.sent.batch.filter((each) => !('woken' in each))).toHaveLength(1);
  });

  it('is lent again from whichever page it was taken on again', async () => {
    const deps = capped({ total: 12 });
    await sealed(deps);
    await kit.locks.pause(where, A_PAUSE);
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    for (let n = 1; n <= 10; n += 1) await kit.operations.takeSlot(SHIP, slotOf(elsewhere(n), 1, 1), 10);
    await kit.locks.resume(where, A_PAUSE.id, NOW);
    kit.answers = [{ kind: 'unavailable', reason: 'the downstream is down', mayRetryAtOnce: false }];
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect(await kit.operations.slotPage(SHIP, 1)).toEqual([slot()]);
    kit.now += 3_600_000;
    await kit.locks.pause(where, A_PAUSE);
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect(await kit.operations.slotPage(SHIP, 1)).toEqual([]);
  });

  it('leaves the slot queue once taken, whichever message queued it', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    await kit.operations.freeSlot(SHIP, slot());
    await kit.operations.takeSlot(SHIP, slotOf(elsewhere(1), 3, 1), 1);
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect(await kit.operations.waiting(SHIP, 9)).toHaveLength(1);
    await kit.operations.freeSlot(SHIP, slotOf(elsewhere(1), 3, 1));
    kit.answers = [{ kind: 'unavailable', reason: 'the downstream is down', mayRetryAtOnce: false }];
    await handleBatch(deps, { kind: 'due', batchId: batch() }, PLENTY);
    expect([kit.calls.length, await kit.operations.waiting(SHIP, 9)]).toEqual([1, []]);
  });

  it('makes a woken batch that already has one wake the next Target', async () => {
    const deps = capped({ total: 12 });
    await sealed(deps);
    await kit.operations.freeSlot(SHIP, slot());
    await kit.operations.takeSlot(SHIP, slot(), 2, 1);
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    kit.answers = [{ kind: 'unavailable', reason: 'the downstream is down', mayRetryAtOnce: false }];
    await handleBatch(deps, { kind: 'due', batchId: batch(), woken: true }, PLENTY);
    expect([kit.calls.length, kit.sent.elect]).toEqual([1, [{ kind: 'elect', target: elsewhere(1), wake: 3 }]]);
    await kit.operations.freeSlot(SHIP, slot(), 1);
  });

  it('makes the handler wake the next Target if the woken batch is gone', async () => {
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    await handleBatch(capped({ total: 1 }), { kind: 'due', batchId: batch(9), woken: true }, PLENTY);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: elsewhere(1), wake: 3 }]);
  });

  it('is awaited with few messages, however often they are repeated', async () => {
    const deps = capped({ total: 1 });
    await sealed(deps);
    await kit.operations.freeSlot(SHIP, slot());
    await kit.operations.takeSlot(SHIP, slotOf(elsewhere(1), 3, 1), 1);
    let messages: readonly object[] = [{ batchId: batch() }];
    for (let minute = 0; minute < 45; minute += 1) {
      kit.sent.batch.length = 0;
      for (const { delay: _, ...each } of (minute % 5 === 0 ? [...messages, ...messages] : messages) as DelayedDue[])
        await handleBatch(deps, each, PLENTY);
      messages = [...kit.sent.batch];
      expect(messages.length).toBeGreaterThan(0);
      expect(messages.length).toBeLessThanOrEqual(32);
      kit.now += 60_000;
    }
    await kit.operations.freeSlot(SHIP, slotOf(elsewhere(1), 3, 1));
  });

  it('is kept if the operation has no cap', async () => {
    await sealed(kit);
    await kit.locks.pause(where, A_PAUSE);
    await handleBatch(kit, { kind: 'due', batchId: batch() }, PLENTY);
    expect((await state()).inFlight).toEqual([slot()]);
  });
});

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
    await operations.resume(SHIP, A_PAUSE.id);
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

suite('a Target with a changed cap', () => {
  beforeEach(clean);
  const places = async () => (await kit.locks.slotPages(where, 12)).flatMap(({ slots }) => slots);
  const ends = (deps: StepKit, round: number, targetPage?: number) =>
    releaseSlots(deps, {
      id: batch(round),
      target: where,
      operation: SHIP,
      ...(targetPage === undefined ? {} : { targetPage }),
    });
  /** A full Target with waiting tasks and without a leader. */
  const fullInLock = async (cap: number) => {
    await led(4);
    for (let round = 1; round <= cap; round += 1) {
      await kit.locks.openBatch(where, guard(), {
        batch: batch(round),
        round,
        by: token('by'),
        until: kit.now,
        perTarget: cap,
      });
      await kit.locks.closeBatch(where, batch(round));
    }
    await kit.locks.release(where, guard());
    kit.sent.elect.length = 0;
  };

  it('from slots in the lock to pages is led when a batch ends', async () => {
    await fullInLock(10);
    await ends(capped({ perTarget: 11 }), 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    expect((await lock()).inFlight).not.toContain(batch(1));
  });

  it('is woken if its slot is already free after an earlier crash', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    const crash = async (): Promise<never> => {
      throw new Error('crash');
    };
    await expect(ends({ ...deps, waiting: { ...kit.waiting, first: crash } }, 1)).rejects.toThrow('crash');
    expect((await lock()).inFlight).not.toContain(batch(1));
    await ends(deps, 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
  });

  it('counts slots in its lock for certain, whatever pages show', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    await kit.locks.takeSlot(where, slot(11), 10, 1);
    const late = { ...deps, locks: { ...kit.locks, slotPagesEventually: async () => [] } };
    const layout = { cap: 11, size: 10, from: 1 };
    expect(await takeTargetSlot(late, where, await lock(), slot(12), layout)).toBeUndefined();
  });

  it('counts slots on all pages for certain while its lock has some', async () => {
    for (const n of [6, 7, 8, 9, 10]) await kit.locks.takeSlot(where, slot(n), 10, 1);
    for (const n of [11, 12]) await kit.locks.takeSlot(where, slot(n), 10, 2);
    const firstPageOnly = async () => (await kit.locks.slotPages(where, 12)).filter(({ page }) => page === 1);
    const late = { ...kit.locks, slotPagesEventually: firstPageOnly };
    const inLock = [1, 2, 3, 4, 5].map((round) => slot(round));
    const layout = { cap: 12, size: 10, from: 1 };
    const first = async () => ({ slots: inLock, capToRead: 12 });
    expect(await takeOnPages(late, where, slot(13), layout, first)).toBeUndefined();
  });

  it('is woken by a batch on a page that was not full', async () => {
    await fullInLock(10);
    const deps = capped({ perTarget: 11 });
    await kit.locks.takeSlot(where, slot(11), 10, 1);
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: kit.now, until: kit.now });
    await kit.locks.block(where, guard(2), { round: 10, at: NOW });
    await ends(deps, 11, 1);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 2 }]);
  });

  it.each([5, null])('from pages to %s frees slots and is woken when a batch ends', async (perTarget) => {
    await led(4);
    for (let n = 0; n < 11; n += 1) await kit.locks.takeSlot(where, slot(n + 1), 10, n < 10 ? 1 : 2);
    await kit.locks.block(where, guard(), { round: 0, at: NOW });
    kit.sent.elect.length = 0;
    await ends(capped({ perTarget }), 1, 1);
    expect(await places()).toHaveLength(10);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
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
