/**
 * The AWS client repeats requests whose answers were lost, functions stand still, and messages arrive twice. A waiting Target is woken
 * nevertheless.
 */
import { beforeEach, expect, it } from 'vitest';
import type { DueMessage } from '../../src/domain/batches/messages.ts';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { group } from '../../src/steps/lead/group.ts';
import { register } from '../../src/steps/register/register.ts';
import { lookAtTarget, repair } from '../../src/steps/repair/repair.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { resumeOperation } from '../../src/steps/slots/pauses.ts';
import { NOW, token } from '../factories/factories.ts';
import { capped, clean, elsewhere, SHIP } from './capped.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { guard, kit, led, lock, message, registered, suite, where } from './step-suite.ts';

type Delayed = DueMessage & { readonly delay?: number };

const batch = (round = 1): BatchId => batchIdOf(where, 1, round);
/** Delivers elect and group messages until no more are sent. */
const drain = async (deps: StepKit) => {
  for (let n = 0; n < 50; n += 1) {
    const elect = deps.sent.elect.shift();
    if (elect) {
      await electLeader(deps, elect);
      continue;
    }
    const next = deps.sent.group.shift();
    if (!next) return;
    const { delay, ...rest } = next;
    kit.now += delay * 1_000;
    await group(deps, rest, PLENTY);
  }
};

suite('a waiting Target', () => {
  beforeEach(clean);

  it('is led though a leftover guard is about to skip its fence meanwhile', async () => {
    const deps = capped({ perTarget: 1, total: 2 });
    await led(4);
    await kit.operations.takeSlot(SHIP, slotOf(where, 1, 1), 2);
    await kit.locks.openBatch(where, guard(), {
      batch: batch(),
      round: 1,
      by: token('by'),
      until: kit.now,
      perTarget: 1,
    });
    await kit.locks.closeBatch(where, batch());
    await kit.locks.release(where, guard());
    // Another Target waits for a free slot.
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW - 9_000, fence: 3 });
    kit.sent.elect.length = 0;
    kit.sent.group.length = 0;
    const ended = { id: batch(), target: where, operation: SHIP, targetPage: 0 } as const;
    const skipFence: StepKit['locks']['skipFence'] = async (...args) => {
      await releaseSlots(deps, ended);
      return kit.locks.skipFence(...args);
    };
    await group({ ...deps, locks: { ...kit.locks, skipFence } }, guard(2), PLENTY);
    // The other Target's batches end, which wakes the slot queue. All messages are delivered.
    await drain(deps);
    for (let n = 0; n < 3; n += 1) {
      await releaseSlots(deps, {
        id: batchIdOf(elsewhere(1), 3, n),
        target: elsewhere(1),
        operation: SHIP,
        targetPage: 0,
      });
      await drain(deps);
    }
    await register(deps, [message(9)]);
    await drain(deps);
    const { blocked, round } = await lock();
    expect({ blocked, round }).toEqual({ blocked: undefined, round: 2 });
  });

  it('is woken when the patrol frees the slot of a leader that died', async () => {
    const deps = capped({ perTarget: 12 });
    await registered(4);
    await kit.locks.acquire(where, { ...guard(1), seen: { fence: 0 }, now: kit.now, until: kit.now });
    const rest = { sealedBy: 'full', candidates: [], oldestAt: NOW, createdAt: NOW } as const;
    for (let round = 1; round <= 12; round += 1) {
      await kit.locks.takeSlot(where, slotOf(where, 1, round), 10, round <= 10 ? 1 : 2);
      // The leader of the last batch died before it stored the batch.
      if (round < 12) await kit.batches.form({ id: batch(round), target: where, ...rest });
    }
    kit.sent.elect.length = 0;
    await kit.locks.acquire(where, { ...guard(2), seen: { fence: 1 }, now: kit.now + 1, until: kit.now + 30_000 });
    await group(deps, guard(2), PLENTY);
    expect(await lock()).toMatchObject({ blocked: NOW, fence: 2 });
    const finding = await lookAtTarget(deps, where, NOW + 7_200_000);
    expect(finding).toMatchObject({ finding: 'stuck-slot' });
    if (finding) await repair(deps, finding);
    expect((await kit.locks.slotPages(where, 12)).flatMap(({ slots }) => slots)).toHaveLength(11);
    for (const each of [...kit.sent.elect]) await electLeader(deps, each);
    expect(await lock()).toMatchObject({ fence: 3 });
  });

  it('is woken with many others though the write of the wake mark is repeated', async () => {
    const deps = capped({ total: null });
    for (let n = 0; n < 60; n += 1) await kit.operations.enqueue(SHIP, { target: elsewhere(n), at: NOW + n, fence: 1 });
    const markWaking: StepKit['operations']['markWaking'] = async (...args) => {
      await kit.operations.markWaking(...args);
      return kit.operations.markWaking(...args);
    };
    const repeating = { ...deps, operations: { ...kit.operations, markWaking } };
    await resumeOperation(repeating, { kind: 'resume', operation: SHIP, resume: 'pause' });
    expect([kit.sent.elect.length, kit.sent.resume.length]).toEqual([60, 0]);
  });

  it('is woken for a lent slot though the write that freed the slot is repeated', async () => {
    const deps = capped({ total: 1 });
    await led(1);
    await kit.operations.takeSlot(SHIP, slotOf(where, 1, 1), 1);
    await finishBatch(deps, where, batch());
    kit.sent.elect.length = 0;
    await kit.operations.enqueue(SHIP, { target: elsewhere(1), at: NOW, fence: 3 });
    await kit.locks.pause(where, { id: 'pause', by: 'person', since: NOW - 60_000 });
    const freeSlot: StepKit['operations']['freeSlot'] = async (...args) => {
      await kit.operations.freeSlot(...args);
      return kit.operations.freeSlot(...args);
    };
    await handleBatch(
      { ...deps, operations: { ...kit.operations, freeSlot } },
      { kind: 'due', batchId: batch() },
      PLENTY,
    );
    expect([(await kit.operations.read(SHIP)).inFlight, kit.sent.elect]).toEqual([
      [],
      [{ kind: 'elect', target: elsewhere(1), wake: 3 }],
    ]);
  });

  it('is woken by a delayed leader whose slot made the next leader stop', async () => {
    const deps = capped({ perTarget: 12 });
    await led(4);
    const rest = { sealedBy: 'full', candidates: [], oldestAt: NOW, createdAt: NOW } as const;
    for (let n = 1; n <= 11; n += 1) {
      await kit.locks.takeSlot(where, slotOf(where, 0, n), 10, n <= 10 ? 1 : 2);
      await kit.batches.form({ id: batchIdOf(where, 0, n), target: where, ...rest });
    }
    let isOpened = false;
    const openBatch: StepKit['locks']['openBatch'] = async (...args) => {
      if (!isOpened) {
        isOpened = true;
        // The leader stood still beyond its lease. The next leader finds the Target full because of the slot that the first one took.
        kit.now += 600_000;
        await kit.locks.acquire(where, { ...guard(2), seen: await lock(), now: kit.now, until: kit.now + 30_000 });
        await group(deps, guard(2), PLENTY);
      }
      return kit.locks.openBatch(...args);
    };
    kit.now += 6_000;
    kit.sent.elect.length = 0;
    kit.sent.group.length = 0;
    await group({ ...deps, locks: { ...kit.locks, openBatch } }, guard(), PLENTY);
    expect(isOpened).toBe(true);
    const slots = (await kit.locks.slotPages(where, 12)).flatMap((page) => page.slots);
    expect([slots.length, kit.sent.elect]).toEqual([11, [{ kind: 'elect', target: where, wake: 2 }]]);
  });
});

suite('a batch with a repeated message', () => {
  it.each([false, true])("keeps its latest attempt's uncounted mark (swapped: %s)", async (swapped) => {
    const id = batchIdOf(where, 1, 1);
    await led(1);
    await finishBatch(kit, where, id);
    // Attempt 1 could not be stored, and its marked message was sent twice. One copy began attempt 2, which could not be stored either.
    for (const [attempt, uncounted] of [
      [1, undefined],
      [2, 1],
    ] as const) {
      const run = {
        attempt,
        countedAttempts: 1,
        token: token(`run ${attempt}`),
        at: kit.now,
        runUntil: kit.now + 1_000,
      };
      await kit.batches.start(id, { ...run, uncounted });
      kit.now += 2_000;
    }
    await kit.operations.pause(SHIP, { id: 'pause', by: 'person', since: NOW });
    let messages: readonly Delayed[] = [
      { kind: 'due', batchId: id, uncounted: 1 },
      { kind: 'due', batchId: id, uncounted: 2 },
    ];
    if (swapped) messages = messages.toReversed();
    for (let minute = 0; minute < 40; minute += 1) {
      kit.sent.batch.length = 0;
      for (const { delay: _, ...each } of messages) await handleBatch(kit, each, PLENTY);
      messages = [...kit.sent.batch] as Delayed[];
      kit.now += 60_000;
    }
    await kit.operations.resume(SHIP, 'pause', NOW);
    const marks = messages.map(({ uncounted }) => uncounted);
    for (const { delay: _, ...each } of messages) await handleBatch(kit, each, PLENTY);
    expect({ marks, countedAttempts: (await kit.batches.get(id))?.countedAttempts }).toEqual({
      marks: [2],
      countedAttempts: 1,
    });
  });
});
