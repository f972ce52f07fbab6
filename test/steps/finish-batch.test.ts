import { expect, it } from 'vitest';
import { batchIdOf, type TaskId, type Token } from '../../src/domain/ids.ts';
import { slotOf } from '../../src/domain/operations/slots.ts';
import { LEASE } from '../../src/domain/timings.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { releaseSlots } from '../../src/steps/slots/batch-slot.ts';
import { aConfig, aPolicy, batchId, registeredCandidate as candidate, id, NOW } from '../factories/factories.ts';
import { depot, guard, kit, led, lock, message, registered, suite, where } from './step-suite.ts';

suite('finishing a batch', () => {
  it('has the same result however often and by whom it is done (F1–F6)', async () => {
    const tasks = await led(3);
    const batch = batchIdOf(where, 1, 1);
    await kit.locks.openBatch(where, guard(), { batch, round: 1, by: 'turn' as Token, until: NOW + LEASE });
    for (const _ of ['by the leader', 'by another', 'again']) {
      await finishBatch(kit, where, batch);
      expect(await kit.batches.get(batch)).toMatchObject({
        status: 'sealed',
        candidates: tasks.map((each) => candidate(each)),
        dropped: [],
      });
      expect(await kit.waiting.first(where, 9)).toEqual([]);
      expect((await lock()).openBatch).toBeUndefined();
    }
    expect(kit.events.filter(({ event }) => event === 'sealed')).toHaveLength(1);
  });

  it('drops candidates that another batch has; none may be left (F2, F3)', async () => {
    const [first, second] = (await led(2)) as [TaskId, TaskId];
    await kit.tasks.claim([candidate(first)], batchId('rival#1#1'));
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', dropped: [candidate(first)] });
    expect(kit.sent.batch).toHaveLength(1);
    await register(kit, [message(5)]);
    await kit.tasks.claim([candidate(id(`${depot}-5`))], batchId('rival#1#2'));
    await finishBatch(kit, where, batchIdOf(where, 1, 2));
    expect(await kit.batches.get(batchIdOf(where, 1, 2))).toMatchObject({
      status: 'succeeded',
      counts: { succeeded: 0, failed: 0 },
    });
    expect(kit.sent.batch).toHaveLength(1);
    expect((await kit.tasks.get(second))?.state).toMatchObject({ batchId: batch });
  });

  it("stores its slot's page, and sends a message to release the slot (F1, F4)", async () => {
    const [only] = (await led(1)) as [TaskId];
    const batch = batchIdOf(where, 1, 1);
    const open = { batch, round: 1, by: 'turn' as Token, until: NOW + LEASE, perTarget: 1 };
    await kit.locks.openBatch(where, guard(), open);
    await kit.tasks.claim([candidate(only)], batchId('rival#1#1'));
    // The configuration has no cap any more.
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', targetPage: 0 });
    expect(kit.sent.batch).toMatchObject([{ batchId: batch }]);
  });

  it('under a later leader still wakes a Target with slots on pages (F1, H7)', async () => {
    await led(1);
    await registered(1);
    const batch = batchIdOf(where, 1, 1);
    const open = { batch, round: 1, by: 'turn' as Token, until: NOW + LEASE, perTarget: null, largestCap: 20 };
    await kit.locks.openBatch(where, guard(), open);
    await kit.locks.takeSlot(where, slotOf(where, 1, 1), 10, 2);
    const [first] = await kit.waiting.first(where, 1);
    await finishBatch({ ...kit, config: aConfig({ batch: aPolicy({ maxSize: 1 }) }) }, where, batch);
    await kit.locks.block(where, guard(), { round: 1, at: first?.at ?? NOW });
    kit.sent.elect.length = 0;
    // The configuration has no cap any more.
    const stored = await kit.batches.get(batch);
    if (!stored) throw new Error('the batch is not stored');
    await releaseSlots(kit, stored);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: where, wake: 1 }]);
    expect((await kit.locks.slotPages(where, 20)).flatMap(({ slots }) => slots)).toEqual([]);
  });

  it('includes a task with two rows once; one function reports it (F1, F3)', async () => {
    await led(1);
    const rows = await kit.waiting.first(where, 9);
    const seal: typeof kit.batches.seal = async (...args) => {
      await kit.batches.seal(...args);
      return kit.batches.seal(...args);
    };
    const batch = batchIdOf(where, 1, 1);
    const beaten = { ...kit, batches: { ...kit.batches, seal } };
    await finishBatch(beaten, where, batch, { rows: [...rows, ...rows], because: 'full' });
    expect((await kit.batches.get(batch))?.candidates).toEqual([candidate(`${depot}-0`)]);
    expect(kit.events.filter(({ event }) => event === 'sealed')).toEqual([]);
  });

  it('notifies again for a settled candidate before its row is deleted (F5)', async () => {
    const listening = {
      ...kit,
      config: {
        ...aConfig({ callbacks: { failed: 'ops', succeeded: null } }),
        destinations: { ops: { kind: 'queue', name: 'ops' } },
      } as const,
    };
    const [task] = (await led(1)) as [TaskId];
    const error = { code: 'expired', message: 'late', retriable: true };
    const as = { status: 'failed', error } as const;
    // The function that settled the task failed before it sent the callback.
    await kit.tasks.settle([{ task: { id: task, run: NOW, target: where }, as }], { at: NOW, keep: 3_600_000 });
    await finishBatch(listening, where, batchIdOf(where, 1, 1));
    expect(kit.sent.callbacks.map(({ event }) => (JSON.parse(event) as { id: string }).id)).toEqual([`${task}.${NOW}`]);
    expect(await kit.waiting.first(where, 9)).toEqual([]);
  });

  it('records `flush` though another function opened the batch (F1)', async () => {
    await led(2);
    await kit.locks.flush(where, NOW);
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', sealedBy: 'flush' });
  });

  it('of another leader excludes expired and superseded tasks (F1)', async () => {
    await register(kit, [
      message(0, { expiresIn: '1s' }),
      message(1, { coalesceKey: 'k' }),
      message(2, { coalesceKey: 'k' }),
      message(3),
    ]);
    kit.now += 1_000;
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect((await kit.batches.get(batch))?.candidates).toEqual([2, 3].map((n) => candidate(`${depot}-${n}`)));
    expect((await kit.waiting.first(where, 9)).map((row) => row.candidate)).toEqual(
      [0, 1].map((n) => candidate(`${depot}-${n}`)),
    );
  });

  it('forms an empty batch if no task waits (F1)', async () => {
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', candidates: [] });
  });
});
