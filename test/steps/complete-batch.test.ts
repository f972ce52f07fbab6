import { describe, expect, it } from 'vitest';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { mergingDownstream } from '../../src/steps/merge/merging-downstream.ts';
import { register } from '../../src/steps/register/register.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { aPostponed, aStart, batchId, id, NOW } from '../factories/factories.ts';
import { PLENTY } from './step-kit.ts';
import { depot, kit, led, message, suite, where } from './step-suite.ts';

const DEADLINE = 3_600_000;

suite('a job that reports later', () => {
  const sealed = async (count: number): Promise<BatchId> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };
  const pending = async (count: number): Promise<BatchId> => {
    const batch = await sealed(count);
    kit.answers = [{ kind: 'pending' }, { kind: 'all-succeeded' }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    return batch;
  };
  const report = (batch: BatchId, results: readonly (readonly [number, string])[] | null) =>
    handleBatch(
      kit,
      {
        kind: 'completion',
        batchId: batch,
        results: results && JSON.stringify(results.map(([n, status]) => ({ id: `${depot}-${n}`, status }))),
      },
      PLENTY,
    );
  const stored = (batch: BatchId) => kit.batches.get(batch);

  it('holds its batch until its deadline, and is called about again after that', async () => {
    const batch = await pending(2);
    const ids = [`${depot}-0`, `${depot}-1`];
    expect(await stored(batch)).toMatchObject({
      status: 'in-progress',
      countedAttempts: 1,
      runUntil: NOW + DEADLINE,
      pending: { ids, until: NOW + DEADLINE },
    });
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: batch, delay: 900 }]);
    kit.now = NOW + DEADLINE + 1;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls.map(({ items, attempt }) => [items.length, attempt])).toEqual([
      [2, 1],
      [2, 2],
    ]);
    expect((await stored(batch))?.status).toBe('succeeded');
  });

  it('reports in several messages, in any order, some of them twice: its batch ends with the last of its items', async () => {
    const batch = await pending(3);
    await report(batch, [[1, 'failed']]);
    await report(batch, [[1, 'succeeded']]);
    expect((await stored(batch))?.status).toBe('in-progress');
    await report(batch, [
      [0, 'succeeded'],
      [2, 'succeeded'],
    ]);
    expect(await stored(batch)).toMatchObject({ status: 'partly-failed', counts: { succeeded: 2, failed: 1 } });
    await report(batch, null);
    expect([kit.calls.length, kit.sent.rejected]).toEqual([1, []]);
  });

  it('that says nothing of its items has done them all', async () => {
    const batch = await pending(2);
    await report(batch, null);
    expect(await stored(batch)).toMatchObject({ status: 'succeeded', counts: { succeeded: 2, failed: 0 } });
  });

  describe('that is a merged one', () => {
    const members = () => [id(`${depot}-0`), id(`${depot}-1`)] as const;
    const calls: (readonly string[])[] = [];
    /** One request that a job has, and one that waits for another call. */
    const halfPending = async (inputsOf: (n: number) => unknown): Promise<BatchId> => {
      await register(
        kit,
        [0, 1].map((n) => message(n, { payload: { depot, inputs: [inputsOf(n)] } })),
      );
      await electLeader(kit, { kind: 'elect', target: where });
      const batch = batchIdOf(where, 1, 1);
      await finishBatch(kit, where, batch);
      await kit.batches.start(batch, aStart(1, NOW, NOW));
      const [had, other] = members();
      const pendingAndOpen = { open: [other], pending: { ids: [had], until: NOW + DEADLINE } };
      await kit.batches.postpone(batch, 1, aPostponed(NOW + 1_000, pendingAndOpen));
      return batch;
    };
    const mergingBy = (keys: string) => {
      calls.length = 0;
      const inner = {
        call: async ({ inputs = [] }: { readonly inputs?: readonly string[] }) => {
          calls.push(inputs);
          return { kind: 'all-succeeded' } as const;
        },
      };
      const processed = memoryProcessed(emptyTables(), openGate);
      const { machine, report } = kit;
      const merging = mergingDownstream(inner, { keys, keepTasks: DEADLINE, processed, machine, report });
      return { ...kit, downstreamOf: () => merging };
    };
    const statuses = async () => (await kit.tasks.outlines(members())).map((task) => task?.status);

    it('and says nothing of its requests has done those that it has, and no others', async () => {
      const batch = await halfPending((n) => n);
      await handleBatch(mergingBy('inputs[]'), { kind: 'completion', batchId: batch, results: null }, PLENTY);
      expect(await statuses()).toEqual(['succeeded', 'batched']);
    });

    it('and reports of a request has not done what a newer request brings for the same input', async () => {
      const batch = await halfPending((n) => ({ id: 'a', text: n }));
      const deps = mergingBy('inputs[].id');
      const results = JSON.stringify([{ id: members()[0], status: 'succeeded' }]);
      await handleBatch(deps, { kind: 'completion', batchId: batch, results }, PLENTY);
      expect(await statuses()).toEqual(['succeeded', 'batched']);
      kit.now = NOW + 2_000;
      await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
      expect(calls).toEqual([['{"id":"a","text":1}']]);
      expect(await statuses()).toEqual(['succeeded', 'succeeded']);
    });
  });

  it('that wants each of its items to be tried again is called about again as after an attempt', async () => {
    const batch = await pending(2);
    await report(batch, [[0, 'retry']]);
    expect((await stored(batch))?.runUntil).toBe(NOW + DEADLINE);
    await report(batch, [
      [0, 'retry'],
      [1, 'retry'],
    ]);
    expect(await stored(batch)).toMatchObject({
      runUntil: NOW + 500,
      countedAttempts: 1,
      open: [`${depot}-0`, `${depot}-1`],
    });
    expect(await stored(batch)).not.toHaveProperty('pending');
    expect((await stored(batch))?.lastAttempt).toMatchObject({ reason: 'asked to retry' });
  });

  it('that reports late shortens no pause that the downstream asked for in an attempt which could not be stored', async () => {
    const batch = await pending(1);
    kit.now = NOW + DEADLINE + 1;
    await kit.batches.start(batch, aStart(2, kit.now, kit.now + 60_000));
    const until = kit.now + 600_000;
    const waits = { ids: [id(`${depot}-0`)], until: NOW + DEADLINE };
    await kit.batches.postpone(batch, 2, aPostponed(until, { uncounted: 1, pending: waits }));
    await report(batch, [[0, 'retry']]);
    expect(await stored(batch)).toMatchObject({ status: 'in-progress', runUntil: until });
  });

  it('that is faster than the answer to its call is heard when that has come', async () => {
    const batch = await sealed(1);
    const start = { attempt: 1, countedAttempts: 1, token: 'other' as never, at: NOW, runUntil: NOW + 60_000 };
    await kit.batches.start(batch, start);
    await report(batch, null);
    expect(kit.sent.batch).toEqual([{ kind: 'completion', batchId: batch, results: null, early: 1, delay: 5 }]);
    // Each time later, since each time it may be delivered twice; but not later than the attempt can take.
    const again = (early: number) =>
      handleBatch(kit, { kind: 'completion', batchId: batch, results: null, early }, PLENTY);
    for (const early of [1, 2, 3, 4]) await again(early);
    expect(kit.sent.batch.slice(1).map(({ delay }) => delay)).toEqual([10, 20, 40, 61]);
    await report(batch, [[0, 'succeeded']]);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state.status).toBe('succeeded');
    // The call is still under way, and holds its slot; the report comes back when it must have ended.
    expect((await stored(batch))?.status).toBe('in-progress');
    expect(kit.sent.batch.at(-1)).toMatchObject({
      batchId: batch,
      results: expect.stringContaining('succeeded'),
      delay: 5,
    });
    kit.now += 60_001;
    await report(batch, [[0, 'succeeded']]);
    expect((await stored(batch))?.status).toBe('succeeded');
  });

  it('that does not report by the deadline of its last attempt has failed', async () => {
    const batch = await pending(1);
    kit.answers = [{ kind: 'pending' }];
    for (let attempt = 2; attempt <= 4; attempt += 1) {
      kit.now += DEADLINE + 1;
      await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    }
    expect(kit.calls).toHaveLength(3);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { message: 'gave up after 3 attempts: its job did not report by its deadline' },
    });
  });

  it('a report that cannot be meant lies in the rejected queue, with the reason', async () => {
    const waiting = await sealed(1);
    await report(batchId('ship/depot=none#1#1'), null);
    await report(waiting, [[0, 'succeeded']]);
    await handleBatch(kit, { kind: 'completion', batchId: waiting, results: '{"a":1}' }, PLENTY);
    await kit.batches.start(waiting, {
      attempt: 1,
      countedAttempts: 1,
      token: 'gone' as never,
      at: NOW,
      runUntil: NOW - 1,
    });
    await handleBatch(kit, { kind: 'completion', batchId: waiting, results: '{"a":1}' }, PLENTY);
    await report(waiting, null);
    await handleBatch(kit, { kind: 'completion', batchId: waiting, results: null, inputs: '[]' }, PLENTY);
    expect(kit.sent.rejected.map(({ problems }) => problems.map(({ path, reason }) => `${path} ${reason}`))).toEqual([
      ['batchId names no batch that is stored'],
      ['batchId names a batch that has not been called yet'],
      ['batchId names a batch that has not been called yet'],
      ['results must be a list of results'],
      ['results must list a result for each task: no job of this batch is expected to report now'],
      ['results must list a result for each task: no job of this batch is expected to report now'],
    ]);
    expect(kit.sent.rejected[0]).toMatchObject({
      messageId: PLENTY.messageId,
      body: '{"batchId":"ship/depot=none#1#1"}',
    });
  });
});
