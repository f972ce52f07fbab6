import { expect, it } from 'vitest';
import { handlerTimeout } from '../../src/domain/config/resolved.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import { CLOCK_SKEW, MINUTE } from '../../src/domain/timings.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { aConfig, aStart, aTask, batchId, candidate, id, NOW } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { config, depot, kit, led, suite, where } from './step-suite.ts';

suite('the batch handler', () => {
  const sealed = async (count: number): Promise<ReturnType<typeof batchIdOf>> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };

  it('makes one call and stores the result of every task (H2–H6)', async () => {
    const batch = await sealed(3);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls.map(({ items, attempt }) => [items.length, attempt])).toEqual([[3, 1]]);
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'succeeded',
      counts: { succeeded: 3, failed: 0 },
      finishedAt: NOW,
    });
  });

  it('waits for a running attempt, and checks again when it must be over (H1)', async () => {
    const batch = await sealed(1);
    const runUntil = NOW + handlerTimeout(config) + 2 * CLOCK_SKEW;
    await kit.batches.start(batch, aStart(1, NOW, runUntil));
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toEqual([]);
    const held = { by: expect.any(String), span: Math.floor(NOW / (15 * MINUTE)) };
    expect(kit.sent.batch).toEqual([
      { kind: 'due', batchId: batch, held, delay: Math.floor((runUntil - NOW) / 1_000) + 1 },
    ]);
    kit.now = runUntil + 1;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 2 }]);
  });

  it('reports results for tasks that were not in the call (H4)', async () => {
    const batch = await sealed(1);
    kit.answers = [{ kind: 'results', items: new Map(), foreign: 2 }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.events.find(({ event }) => event === 'foreign-results')).toMatchObject({ batchId: batch, items: 2 });
  });

  it('reports no call if none was made (H4)', async () => {
    const batch = await sealed(1);
    const items = new Map([[id(`${depot}-0`), { status: 'succeeded' as const }]]);
    kit.answers = [{ kind: 'results', items, foreign: 0, withoutCall: true }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
    expect(kit.events.map(({ event }) => event)).not.toContain('called');
  });

  it('postpones open tasks, and retries at once only if that can help (H5)', async () => {
    const batch = await sealed(2);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toHaveLength(2);
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: batch, delay: 1 }]);
    kit.now = NOW + 2_000;
    kit.answers = [{ kind: 'unavailable', reason: 'answered 429', retryAfter: 30_000, mayRetryAtOnce: false }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toHaveLength(3);
    expect(kit.sent.batch.at(-1)).toEqual({ kind: 'due', batchId: batch, delay: 32 });
  });

  it("stores an attempt's reason and quote until the next one ends (H5)", async () => {
    const batch = await sealed(2);
    const later = { kind: 'unavailable', mayRetryAtOnce: false } as const;
    kit.answers = [{ ...later, reason: 'answered 503', quote: `closed ${'x'.repeat(300)}` }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    const first = (await kit.batches.get(batch))?.lastAttempt;
    expect(first).toEqual({
      endedAt: NOW,
      reason: 'answered 503',
      quote: expect.stringMatching(/^closed x{192}…$/),
      open: 2,
      attempt: 1,
    });
    kit.now = NOW + 2_000;
    kit.answers = [{ kind: 'results', items: new Map([[id(`${depot}-0`), { status: 'succeeded' }]]), foreign: 0 }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.lastAttempt).toEqual({
      endedAt: NOW + 2_000,
      reason: 'left out of the results',
      open: 1,
      attempt: 2,
    });
  });

  it('records each call: its attempt, time, members and answer', async () => {
    const batch = await sealed(3);
    const refused = { kind: 'refused', suspect: 'an-item', reason: 'answered 400', quote: 'no such depot' } as const;
    kit.answers = [refused, refused, { kind: 'unavailable', reason: 'answered 429', mayRetryAtOnce: false }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    const call = { attempt: 1, at: NOW, took: 0, isError: true };
    const before = [
      { ...call, reason: 'answered 400', quote: 'no such depot', items: 3 },
      { ...call, reason: 'answered 400', quote: 'no such depot', items: 1, members: '1' },
      { ...call, reason: 'answered 429', items: 2, members: '2-3' },
    ];
    expect((await kit.batches.get(batch))?.calls).toEqual(before);
    kit.now = NOW + 60_000;
    kit.answers = [{ kind: 'all-succeeded' }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    const last = { attempt: 2, at: NOW + 60_000, took: 0, isError: false, reason: 'all-succeeded', items: 2 };
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      calls: [...before, { ...last, members: '2-3' }],
    });
  });

  it('fails open tasks after the last attempt, with the last reason (H6)', async () => {
    const batch = await sealed(1);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
      kit.now += 100_000;
    }
    const state = (await kit.tasks.get(id(`${depot}-0`)))?.state;
    expect(state).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { code: 'attempts-exhausted', message: 'gave up after 3 attempts: answered 503' },
    });
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'failed', counts: { succeeded: 0, failed: 1 } });
  });

  it('fails a batch that crashed in every attempt, without another call (H2)', async () => {
    const batch = await sealed(1);
    for (const attempt of [1, 2, 3])
      await kit.batches.start(batch, aStart(attempt, NOW + attempt * 10, NOW + attempt * 10 + 5));
    kit.now = NOW + 1_000;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toEqual([]);
    // The invocation after the last attempt does not count as an attempt.
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: { message: expect.stringMatching(/^gave up after 3 attempts: .*did not report/) },
    });
  });

  it('reads the batch again later if it cannot finish it (H6)', async () => {
    const batch = await sealed(1);
    let tried = 0;
    const finish: typeof kit.batches.finish = async (...args) => {
      tried += 1;
      return tried > 1 ? kit.batches.finish(...args) : undefined;
    };
    await handleBatch({ ...kit, batches: { ...kit.batches, finish } }, { kind: 'due', batchId: batch }, PLENTY);
    kit.now += 1_000_000;
    await handleBatch({ ...kit, batches: { ...kit.batches, finish } }, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.events.filter(({ event }) => event === 'finished')).toHaveLength(1);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
  });

  it('stores only missing results after its attempt was overtaken (H5, H6)', async () => {
    const batch = await sealed(2);
    const overtaken: StepKit['downstreamOf'] = () => ({
      call: async () => {
        // While this attempt stood still, a second attempt ran and finished one of the two tasks.
        await kit.batches.start(batch, aStart(2, NOW + 1_000_000, NOW + 2_000_000));
        await kit.tasks.finish(
          [
            {
              id: id(`${depot}-0`),
              outcome: { status: 'failed', error: { code: 'x', message: 'y', retriable: false } },
            },
          ],
          {
            id: batch,
            target: where,
            attempts: 2,
            at: NOW,
            keep: 1_000,
          },
        );
        return { kind: 'all-succeeded' };
      },
    });
    await handleBatch({ ...kit, downstreamOf: overtaken }, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ status: 'failed', attempts: 2 });
    expect((await kit.tasks.get(id(`${depot}-1`)))?.state).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect((await kit.batches.get(batch))?.status).toBe('in-progress');
    kit.now = NOW + 2_000_001;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
    });
  });

  it('fails a task whose payload is gone, and calls the others (H3)', async () => {
    const large = JSON.stringify({ depot, n: 1, text: 'x'.repeat(2_000) });
    await kit.tasks.insert([aTask({ id: id(`${depot}-1`), target: where, payload: large })]);
    const [stored] = [await kit.tasks.get(id(`${depot}-1`))];
    if (stored) await kit.waiting.put([stored]);
    const batch = await sealed(1);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls.map(({ items }) => items.map((item) => item.id))).toEqual([[`${depot}-0`]]);
    expect((await kit.tasks.get(id(`${depot}-1`)))?.state).toMatchObject({
      status: 'failed',
      error: { code: 'payload-lost' },
    });
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
    });
  });

  it("starts no attempt without its tasks or its operation's settings (H3)", async () => {
    const batch = await sealed(1);
    const members = async (): Promise<never> => {
      throw new Error('throttled');
    };
    const throttled = { ...kit, tasks: { ...kit.tasks, members } };
    const removed = { ...kit, config: { ...config, operations: {} } };
    for (const _ of [1, 2, 3, 4]) {
      await expect(handleBatch(throttled, { kind: 'due', batchId: batch }, PLENTY)).rejects.toThrow('throttled');
      await expect(handleBatch(removed, { kind: 'due', batchId: batch }, PLENTY)).rejects.toThrow(
        'not in the configuration',
      );
    }
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 1 }]);
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('starts no attempt if too little time is left (H2)', async () => {
    const batch = await sealed(1);
    await expect(
      handleBatch(kit, { kind: 'due', batchId: batch }, { ...PLENTY, timeLeft: () => 5_999 }),
    ).rejects.toThrow('no time left');
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', attempt: 0 });
    await handleBatch(kit, { kind: 'due', batchId: batch }, { ...PLENTY, timeLeft: () => 6_000 });
    expect(kit.calls).toHaveLength(1);
  });

  it('recognizes its own attempt if the write of the start is repeated (H2)', async () => {
    const batch = await sealed(1);
    const start: StepKit['batches']['start'] = async (...args) => {
      await kit.batches.start(...args);
      return kit.batches.start(...args);
    };
    await handleBatch({ ...kit, batches: { ...kit.batches, start } }, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls).toMatchObject([{ attempt: 1 }]);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
  });

  it('throws on a message for an unsealed batch, so that SQS retries (H1)', async () => {
    const early = batchIdOf(where, 9, 9);
    const candidates = [candidate(`${depot}-0`)];
    await kit.batches.form({ id: early, target: where, sealedBy: 'full', candidates, oldestAt: NOW, createdAt: NOW });
    await expect(handleBatch(kit, { kind: 'due', batchId: early }, PLENTY)).rejects.toThrow('not sealed yet');
  });

  it('postpones a batch for at most a third of `keepTasks` (H5)', async () => {
    const batch = await sealed(1);
    const short = aConfig({ keepTasks: 3_600_000 });
    kit.answers = [{ kind: 'unavailable', reason: 'answered 429', retryAfter: 86_400_000, mayRetryAtOnce: false }];
    await handleBatch({ ...kit, config: short }, { kind: 'due', batchId: batch }, PLENTY);
    const { runUntil = 0 } = (await kit.batches.get(batch)) ?? {};
    expect(runUntil - NOW).toBeGreaterThan(60_000);
    expect(runUntil - NOW).toBeLessThanOrEqual(3_600_000 / 3);
  });

  it('reports a message whose batch is not stored, and ends', async () => {
    await handleBatch(kit, { kind: 'due', batchId: batchId('gone#1#1') }, PLENTY);
    expect(kit.events).toEqual([{ event: 'unknown-batch', batchId: 'gone#1#1' }]);
  });
});
