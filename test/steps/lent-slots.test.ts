/** The operation's slot of a batch whose Target is paused: when it is lent, and how the batch gets one again. */
import { beforeEach, expect, it } from 'vitest';
import type { DueMessage } from '../../src/domain/batches/messages.ts';
import { batchIdOf, parseCandidate } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { takeOperationSlot } from '../../src/steps/slots/operation-slots.ts';
import { resumeOperation } from '../../src/steps/slots/pauses.ts';
import { NOW, token } from '../factories/factories.ts';
import { A_PAUSE, batch, capped, clean, elsewhere, SHIP, slot, state } from './capped.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, led, suite, where } from './step-suite.ts';

type DelayedDue = DueMessage & { readonly delay?: number };

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
      calls: [],
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

  it('is freed before another attempt may begin, and wakes a Target', async () => {
    const guarded = capped({ total: 1 }, { failures: 1, coolDown: 30_000 });
    await sealed(guarded);
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    let wasFreed = false;
    const freeSlot: StepKit['operations']['freeSlot'] = async (...slot) => {
      // The table is slow. Until the slot is freed, the circuit's pause ends and a copy of the message arrives.
      kit.now += 31_000;
      const { paused } = await kit.operations.read(SHIP);
      if (paused) await resumeOperation(guarded, { kind: 'resume', operation: SHIP, resume: paused.id });
      kit.sent.elect.length = 0;
      kit.now += 34_000;
      await handleBatch(guarded, { kind: 'due', batchId: batch() }, PLENTY);
      wasFreed = true;
      return kit.operations.freeSlot(...slot);
    };
    await handleBatch(
      { ...guarded, operations: { ...kit.operations, freeSlot } },
      { kind: 'due', batchId: batch() },
      PLENTY,
    );
    expect([wasFreed, kit.calls.length, (await state()).inFlight]).toEqual([true, 1, []]);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: elsewhere(1), wake: 3 }]);
  });

  it('is kept by a function that was suspended beyond its time', async () => {
    const guarded = capped({ total: 1 }, { failures: 1, coolDown: 30_000 });
    await sealed(guarded);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    const suspended = { ...PLENTY, timeLeft: () => (kit.calls.length === 0 ? PLENTY.timeLeft() : -1) };
    await handleBatch(guarded, { kind: 'due', batchId: batch() }, suspended);
    expect([kit.calls.length, (await state()).inFlight]).toEqual([1, [slot()]]);
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
