import { expect, it } from 'vitest';
import type { DueMessage } from '../../src/domain/batches/messages.ts';
import { handlerTimeout, operationFor } from '../../src/domain/config/resolved.ts';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { SECOND } from '../../src/domain/timings.ts';
import { type Delivery, TimeIsUp } from '../../src/ports/machine.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { MOST_UNCOUNTED } from '../../src/steps/call/not-stored.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { id, NOW, operationName } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { config, depot, kit, led, suite, where } from './step-suite.ts';

suite('an attempt with failed writes', () => {
  const sealed = async (count: number): Promise<BatchId> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };
  /** An invocation with the function's usual time. */
  const invocation = (): Delivery => {
    const end = kit.now + handlerTimeout(config);
    return { ...PLENTY, timeLeft: () => end - kit.now };
  };
  const fail = async (): Promise<never> => {
    throw new Error('throttled');
  };
  type Store = 'tasks' | 'batches';
  /** The kit with some calls of a store that fail before `until`. */
  const without = (store: Store, calls: readonly string[], until = Number.POSITIVE_INFINITY): StepKit => ({
    ...kit,
    [store]: {
      ...kit[store],
      ...Object.fromEntries(
        calls.map((call) => {
          const works = (kit[store] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[call];
          return [call, (...args: unknown[]) => (kit.now < until ? fail() : works?.(...args))];
        }),
      ),
    },
  });
  const outcome = async () => (await kit.tasks.get(id(`${depot}-0`)))?.state.status;
  /** The latest message, with the clock set to when it is due. */
  const next = (): DueMessage => {
    const { delay, ...message } = kit.sent.batch.at(-1) ?? { delay: 0, batchId: '' as BatchId };
    kit.now += delay * 1_000;
    return message as DueMessage;
  };

  /** Handles messages until another attempt has begun. */
  const tryAgain = async (on: StepKit, batchId: BatchId): Promise<void> => {
    const before = await kit.batches.get(batchId);
    while ((await kit.batches.get(batchId))?.attempt === before?.attempt) await handleBatch(on, next(), invocation());
  };
  const { maxAttempts } = operationFor(config, operationName('ship')).retry;

  it('is stored by the same invocation if the table recovers', async () => {
    const batchId = await sealed(2);
    await handleBatch(without('tasks', ['finish'], NOW + 4_000), { kind: 'due', batchId }, invocation());
    expect(kit.calls).toHaveLength(1);
    expect(await outcome()).toBe('succeeded');
    expect(await kit.batches.get(batchId)).toMatchObject({ status: 'succeeded', countedAttempts: 1 });
  });

  it('marks its message, and repeats that while SQS fails', async () => {
    const batchId = await sealed(2);
    const broken = without('batches', ['postpone', 'finish']);
    let refused = 0;
    const batch: StepKit['queues']['batch'] = async (...args) => {
      refused += 1;
      return refused <= 2 ? fail() : kit.queues.batch(...args);
    };
    await handleBatch({ ...broken, queues: { ...kit.queues, batch } }, { kind: 'due', batchId }, invocation());
    expect(refused).toBe(3);
    expect(kit.sent.batch).toMatchObject([{ batchId, uncounted: 1 }]);
  });

  it('does not count; the next call waits for a successful write', async () => {
    const batchId = await sealed(2);
    const broken = without('tasks', ['finish', 'touch']);
    await handleBatch(broken, { kind: 'due', batchId }, invocation());
    expect(await kit.batches.get(batchId)).toMatchObject({
      countedAttempts: 0,
      attempt: 1,
      uncounted: 1,
      lastAttempt: { reason: 'Groupage could not store the results of the call (its own table failed): throttled' },
    });
    expect(kit.events.at(-1)).toMatchObject({ event: 'not-stored', batchId, attempt: 1, cause: 'Error: throttled' });
    const again = next();
    for (let delivery = 0; delivery < 3; delivery += 1)
      await expect(handleBatch(broken, again, invocation())).rejects.toThrow('throttled');
    expect(kit.calls).toHaveLength(1);
    await handleBatch(kit, again, invocation());
    expect(kit.calls).toHaveLength(2);
    expect(await outcome()).toBe('succeeded');
    expect(await kit.batches.get(batchId)).toMatchObject({ status: 'succeeded', countedAttempts: 1, attempt: 2 });
    expect(await kit.batches.get(batchId)).not.toHaveProperty('uncounted');
  });

  it('does not count without its row either, as a message says so', async () => {
    const batchId = await sealed(1);
    await handleBatch(without('batches', ['postpone', 'finish']), { kind: 'due', batchId }, invocation());
    expect(kit.sent.batch.at(-1)).toMatchObject({ batchId, uncounted: 1 });
    // The attempt still counts as running, so the message keeps its mark until the attempt is over.
    await handleBatch(kit, next(), invocation());
    expect(kit.sent.batch.at(-1)).toMatchObject({ batchId, uncounted: 1 });
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    await handleBatch(kit, next(), invocation());
    // All members had ended, so finishing the batch took no call.
    expect(kit.calls).toHaveLength(1);
    expect(await kit.batches.get(batchId)).toMatchObject({ status: 'succeeded', countedAttempts: 1, attempt: 2 });
  });

  it('does not count even if it was the last one allowed', async () => {
    const batchId = await sealed(1);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    for (let attempt = 1; attempt < maxAttempts; attempt += 1) {
      await handleBatch(kit, { kind: 'due', batchId }, invocation());
      kit.now += 100_000;
    }
    kit.answers = [{ kind: 'all-succeeded' }];
    await handleBatch(without('tasks', ['finish']), { kind: 'due', batchId }, invocation());
    await handleBatch(kit, next(), invocation());
    expect(await outcome()).toBe('succeeded');
  });

  it('counts after several in a row, so that the calls end', async () => {
    const batchId = await sealed(1);
    // The first write succeeds, and the writes of results fail.
    const broken = without('tasks', ['finish']);
    await handleBatch(broken, { kind: 'due', batchId }, invocation());
    for (let n = 1; n <= MOST_UNCOUNTED; n += 1) {
      expect(await kit.batches.get(batchId)).toMatchObject({ countedAttempts: 0, uncounted: n });
      await tryAgain(broken, batchId);
    }
    expect(await kit.batches.get(batchId)).toMatchObject({ countedAttempts: 1, uncounted: MOST_UNCOUNTED + 1 });
    for (let n = 1; n < maxAttempts; n += 1) await tryAgain(broken, batchId);
    expect(kit.calls).toHaveLength(MOST_UNCOUNTED + maxAttempts);
    await tryAgain(kit, batchId);
    expect(kit.calls).toHaveLength(MOST_UNCOUNTED + maxAttempts);
    expect(await outcome()).toBe('failed');
  });

  it.each([
    ['tasks', ['finish', 'touch']],
    ['batches', ['postpone', 'finish']],
    ['tasks and batches', ['finish', 'touch', 'postpone']],
  ])('does not count if writes to %s hang; it ends in time', async (of, calls) => {
    const batchId = await sealed(1);
    const silent = async (): Promise<never> => {
      kit.now += kit.limit;
      throw new TimeIsUp(kit.limit);
    };
    const silenced = Object.fromEntries(calls.map((call) => [call, silent]));
    const broken = {
      ...kit,
      tasks: { ...kit.tasks, ...(of.includes('tasks') ? silenced : {}) },
      batches: { ...kit.batches, ...(of.includes('batches') ? silenced : {}) },
    };
    const run = invocation();
    await handleBatch(broken, { kind: 'due', batchId }, run);
    expect(run.timeLeft()).toBeGreaterThanOrEqual(SECOND);
    const { uncounted, countedAttempts } = (await kit.batches.get(batchId)) ?? {};
    expect([uncounted, countedAttempts, next().uncounted]).toEqual(
      of.includes('batches') ? [undefined, 1, 1] : [1, 0, undefined],
    );
    expect(kit.events.at(-1)).toMatchObject({ event: 'not-stored', cause: expect.stringMatching(/^TimeIsUp/) });
  });

  it('delays the next call until a write succeeds, after a crash', async () => {
    const batchId = await sealed(1);
    const dies: StepKit['tasks']['finish'] = () => new Promise(() => {});
    handleBatch({ ...kit, tasks: { ...kit.tasks, finish: dies } }, { kind: 'due', batchId }, invocation());
    await expect.poll(() => kit.calls.length).toBe(1);
    kit.now += 1_000_000;
    for (let delivery = 0; delivery < 3; delivery += 1)
      await expect(handleBatch(without('tasks', ['touch']), { kind: 'due', batchId }, invocation())).rejects.toThrow(
        'throttled',
      );
    expect(kit.calls).toHaveLength(1);
    expect(await kit.batches.get(batchId)).toMatchObject({ countedAttempts: 1, attempt: 1 });
  });

  it('counts if its function died, as the payload may be the cause', async () => {
    const batchId = await sealed(1);
    const dies: StepKit['tasks']['finish'] = () => new Promise(() => {});
    handleBatch({ ...kit, tasks: { ...kit.tasks, finish: dies } }, { kind: 'due', batchId }, invocation());
    await expect.poll(() => kit.calls.length).toBe(1);
    kit.now += 1_000_000;
    await handleBatch(kit, { kind: 'due', batchId }, invocation());
    expect(await kit.batches.get(batchId)).toMatchObject({ countedAttempts: 2, attempt: 2 });
  });
});
