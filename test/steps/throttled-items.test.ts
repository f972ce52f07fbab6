/** Items that the downstream throttles one by one use no attempt, whatever happens to the others (O5). */
import { expect, it } from 'vitest';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, ItemAnswer } from '../../src/domain/downstream/downstream.ts';
import { type BatchId, batchIdOf, type TaskId } from '../../src/domain/ids.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { id, NOW, operationName, token } from '../factories/factories.ts';
import { PLENTY } from './step-kit.ts';
import { config, depot, kit, led, suite, where } from './step-suite.ts';

const DONE: ItemAnswer = { status: 'succeeded' };
const BUSY: ItemAnswer = { status: 'throttled', reason: 'queue full' };
const AGAIN: ItemAnswer = { status: 'retry', reason: 'locked' };

suite('throttled items', () => {
  const sealed = async (count: number): Promise<BatchId> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    return batchIdOf(where, 1, 1);
  };
  const answer = (...each: readonly ItemAnswer[]): Answer => ({
    kind: 'results',
    foreign: 0,
    items: new Map<TaskId, ItemAnswer>(each.map((one, n) => [id(`${depot}-${n}`), one])),
  });
  const attempt = async (batch: BatchId, said: Answer) => {
    kit.answers = [said];
    kit.now = Math.max(kit.now + 1, ((await kit.batches.get(batch))?.runUntil ?? 0) + 1);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    return kit.batches.get(batch);
  };
  const { maxAttempts } = operationFor(config, operationName('ship')).retry;
  const state = async (n: number) => (await kit.tasks.get(id(`${depot}-${n}`)))?.state;

  it('wait without an attempt if all others have ended', async () => {
    const batch = await sealed(3);
    expect(await attempt(batch, answer(DONE, BUSY, BUSY))).toMatchObject({ countedAttempts: 0, attempt: 1 });
    // They are not called again at once.
    expect(kit.calls).toHaveLength(1);
    expect(await attempt(batch, answer(DONE, BUSY, BUSY))).toMatchObject({ countedAttempts: 0, attempt: 2 });
    expect(await attempt(batch, answer(DONE, DONE, DONE))).toMatchObject({ status: 'succeeded' });
  });

  it('keep all their attempts while others of their batch use theirs', async () => {
    const batch = await sealed(2);
    for (let n = 1; n < maxAttempts; n += 1)
      expect(await attempt(batch, answer(AGAIN, BUSY))).toMatchObject({ countedAttempts: n, spared: [0, n] });
    // The last attempt of the first item is none of the second item's.
    expect(await attempt(batch, answer(AGAIN, BUSY))).toMatchObject({
      countedAttempts: 0,
      open: [id(`${depot}-1`)],
    });
    expect(await state(0)).toMatchObject({ status: 'failed', error: { code: 'attempts-exhausted' } });
    expect(await state(0)).toMatchObject({ error: { message: expect.stringContaining('locked') } });
    for (let n = 1; n < maxAttempts; n += 1)
      expect(await attempt(batch, answer(DONE, AGAIN))).toMatchObject({ countedAttempts: n });
    expect(await attempt(batch, answer(DONE, AGAIN))).toMatchObject({ status: 'failed' });
    expect(await state(1)).toMatchObject({ error: { message: expect.stringContaining('locked') } });
  });

  it('keep them if the last attempt of the batch does not report', async () => {
    const batch = await sealed(2);
    for (let n = 1; n < maxAttempts; n += 1) await attempt(batch, answer(AGAIN, BUSY));
    const before = await kit.batches.get(batch);
    const start = { attempt: maxAttempts, countedAttempts: maxAttempts, token: token('gone'), uncounted: undefined };
    const at = (before?.runUntil ?? NOW) + 1;
    await kit.batches.start(batch, { ...start, at, runUntil: at + 1_000, grants: undefined });
    // The next function finds that no attempt is left. The second item has used only the one that did not report.
    expect(await attempt(batch, answer(DONE, DONE))).toMatchObject({ countedAttempts: 1, open: [id(`${depot}-1`)] });
    expect(await state(0)).toMatchObject({ status: 'failed' });
    expect(await attempt(batch, answer(DONE, DONE))).toMatchObject({ counts: { succeeded: 1, failed: 1 } });
  });

  it('say nothing about the downstream, even if there are no others', async () => {
    const batch = await sealed(2);
    expect(await attempt(batch, answer(BUSY, BUSY))).toMatchObject({ countedAttempts: 0 });
    expect((await kit.operations.read(operationName('ship'))).throttledSince).toBeUndefined();
    expect(kit.events.find(({ event }) => event === 'called')).toMatchObject({ isError: false });
    await attempt(batch, answer(DONE, DONE));
  });

  it('do not stop the parts of a batch that was refused', async () => {
    const batch = await sealed(4);
    kit.answers = [{ kind: 'refused', reason: 'answered 400', suspect: 'an-item' }, answer(BUSY, DONE, DONE, DONE)];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, counts: { succeeded: 3, failed: 0 } });
    expect(await attempt(batch, answer(DONE))).toMatchObject({ status: 'succeeded' });
  });

  it('keep their attempts while a job of theirs is pending', async () => {
    const batch = await sealed(2);
    for (let n = 1; n < maxAttempts; n += 1) await attempt(batch, answer(AGAIN, BUSY));
    // The other item has ended; the throttled one is now in a job, whose report asks for a retry.
    expect(await attempt(batch, answer(DONE, BUSY))).toMatchObject({ countedAttempts: 0 });
    expect(await attempt(batch, { kind: 'pending' })).toMatchObject({ countedAttempts: 1 });
    const report = JSON.stringify([{ id: `${depot}-1`, status: 'retry' }]);
    await handleBatch(kit, { kind: 'completion', batchId: batch, results: report }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 1, open: [id(`${depot}-1`)] });
  });

  it('are reported in a job like in an answer, and the others are notified of', async () => {
    const batch = await sealed(2);
    for (let n = 1; n < maxAttempts; n += 1) await attempt(batch, answer(AGAIN, AGAIN));
    await attempt(batch, { kind: 'pending' });
    const each = [
      { id: `${depot}-0`, status: 'retry' },
      { id: `${depot}-1`, status: 'throttled' },
    ];
    await handleBatch(kit, { kind: 'completion', batchId: batch, results: JSON.stringify(each) }, PLENTY);
    expect(await state(0)).toMatchObject({ status: 'failed', error: { code: 'attempts-exhausted' } });
    expect(await kit.batches.get(batch)).toMatchObject({
      countedAttempts: maxAttempts - 1,
      open: [id(`${depot}-1`)],
      counts: { failed: 1 },
    });
  });
});
