import { describe, expect, it } from 'vitest';
import { parseBatch, printBatch } from '../../src/domain/batches/messages.ts';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { memoryProcessed } from '../../src/memory/processed.ts';
import { emptyTables } from '../../src/memory/tables.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { mergingDownstream } from '../../src/steps/merge/merging-downstream.ts';
import { register } from '../../src/steps/register/register.ts';
import { openGate } from '../../src/virtual/gate.ts';
import { aConfig, aDownstream, aPostponed, aStart, batchId, id, NOW } from '../factories/factories.ts';
import { PLENTY } from './step-kit.ts';
import { depot, kit, led, message, suite, where } from './step-suite.ts';

const DEADLINE = 3_600_000;

suite('a pending job', () => {
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

  it('keeps its batch in progress until the deadline; then it is called again', async () => {
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

  it('reports in several messages in any order; its batch ends with the last item', async () => {
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

  it('that reports no results has succeeded for all its items', async () => {
    const batch = await pending(2);
    await report(batch, null);
    expect(await stored(batch)).toMatchObject({ status: 'succeeded', counts: { succeeded: 2, failed: 0 } });
  });

  describe('of merged tasks', () => {
    const members = () => [id(`${depot}-0`), id(`${depot}-1`)] as const;
    const calls: (readonly string[])[] = [];
    /** A batch with one task that a job has and one that waits for another call. */
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

    it('that reports no results has done only the tasks that it has', async () => {
      const batch = await halfPending((n) => n);
      await handleBatch(mergingBy('inputs[]'), { kind: 'completion', batchId: batch, results: null }, PLENTY);
      expect(await statuses()).toEqual(['succeeded', 'batched']);
    });

    it('leaves a newer task for the same input to the next call', async () => {
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

  describe('that must report results', () => {
    const strict = () => ({ ...kit, config: aConfig({ downstream: aDownstream({ requireResults: true }) }) });

    it('leaves a report without them in the rejected queue', async () => {
      const batch = await pending(2);
      await handleBatch(strict(), { kind: 'completion', batchId: batch, results: null }, PLENTY);
      expect((await stored(batch))?.status).toBe('in-progress');
      expect(kit.sent.rejected).toMatchObject([
        { problems: [{ path: 'results', reason: expect.stringContaining('downstream.requireResults is set') }] },
      ]);
    });

    it('is started again if its execution has none', async () => {
      const batch = await pending(2);
      const results = JSON.stringify([0, 1].map((n) => ({ id: `${depot}-${n}`, status: 'succeeded' })));
      const body = printBatch({ kind: 'completion', batchId: batch, results, withoutResults: true, early: 1 });
      await handleBatch(strict(), parseBatch(body), PLENTY);
      expect(await stored(batch)).toMatchObject({
        status: 'in-progress',
        countedAttempts: 1,
        open: [`${depot}-0`, `${depot}-1`],
        lastAttempt: { reason: expect.stringContaining('succeeded without results') },
      });
      await handleBatch(kit, parseBatch(body), PLENTY);
      expect((await stored(batch))?.status).toBe('succeeded');
    });
  });

  it('that asks to retry all its items is called again as after an attempt', async () => {
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

  it('that reports late does not shorten a delay that the downstream asked for', async () => {
    const batch = await pending(1);
    kit.now = NOW + DEADLINE + 1;
    await kit.batches.start(batch, aStart(2, kit.now, kit.now + 60_000));
    const until = kit.now + 600_000;
    const waits = { ids: [id(`${depot}-0`)], until: NOW + DEADLINE };
    await kit.batches.postpone(batch, 2, aPostponed(until, { uncounted: 1, pending: waits }));
    await report(batch, [[0, 'retry']]);
    expect(await stored(batch)).toMatchObject({ status: 'in-progress', runUntil: until });
  });

  it('that reports before its call is answered is recorded after the answer', async () => {
    const batch = await sealed(1);
    const start = { attempt: 1, countedAttempts: 1, token: 'other' as never, at: NOW, runUntil: NOW + 60_000 };
    await kit.batches.start(batch, start);
    await report(batch, null);
    expect(kit.sent.batch).toEqual([{ kind: 'completion', batchId: batch, results: null, early: 1, delay: 5 }]);
    // The delay grows each time, because each copy may be delivered twice. It never exceeds the attempt's longest duration.
    const again = (early: number) =>
      handleBatch(kit, { kind: 'completion', batchId: batch, results: null, early }, PLENTY);
    for (const early of [1, 2, 3, 4]) await again(early);
    expect(kit.sent.batch.slice(1).map(({ delay }) => delay)).toEqual([10, 20, 40, 61]);
    await report(batch, [[0, 'succeeded']]);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state.status).toBe('succeeded');
    // The call is still under way and holds its slot. The report comes back when the call must have ended.
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

  it('that does not report by the deadline of the last attempt has failed', async () => {
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

  it('with an invalid report leaves it in the rejected queue with the reason', async () => {
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
