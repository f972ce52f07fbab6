import { expect, it } from 'vitest';
import { finishBatch } from '../../src/batching/finish-batch.ts';
import { handleBatch } from '../../src/batching/handle-batch.ts';
import { batchIdOf } from '../../src/batching/ids.ts';
import type { Config, Operation } from '../../src/config/resolved.ts';
import type { Downstream } from '../../src/downstream/downstream.ts';
import type { Delivery } from '../../src/ports.ts';
import { aConfig, aPolicy, aRetry, id, NOW, operationName } from '../factories/factories.ts';
import { PLENTY } from './step-kit.ts';
import { depot, kit, led, suite, where } from './step-suite.ts';

const ship = operationName('ship');

suite('handle a batch in parts', () => {
  const sealed = async (count: number): Promise<ReturnType<typeof batchIdOf>> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };
  const withOperation = (fields: Partial<Operation>): Config =>
    aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), ...fields });
  /** Refuses what holds a task. */
  const refusesAbout = (poison: number, status = 'answered 400', suspect: 'an-item' | 'its-size' = 'an-item') => ({
    downstreamOf: (): Downstream => ({
      call: async (call) => {
        kit.calls.push(call);
        return call.items.some((item) => item.id === `${depot}-${poison}`)
          ? { kind: 'refused', reason: status, quote: 'no such parcel', suspect }
          : { kind: 'all-succeeded' };
      },
    }),
  });
  const statuses = async (count: number) => {
    const tasks = await kit.tasks.all(Array.from({ length: count }, (_, n) => id(`${depot}-${n}`)));
    return tasks.map(({ state }) => state.status);
  };
  const sizes = () => kit.calls.map(({ items }) => items.length);

  it('H4: one poison task fails with the downstream’s reason, the others succeed', async () => {
    const batch = await sealed(4);
    await handleBatch({ ...kit, ...refusesAbout(2) }, { batchId: batch }, PLENTY);
    expect(await statuses(4)).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded']);
    expect((await kit.tasks.get(id(`${depot}-2`)))?.state).toMatchObject({
      error: { code: 'refused', message: 'answered 400: no such parcel', retriable: false },
    });
    // The second half, whose first half came through, is known to be refused.
    expect(sizes()).toEqual([4, 2, 1, 1]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'partly-failed', tries: 1 });
  });

  it('H4: without bisect, and where no part would be taken, all fail', async () => {
    const batch = await sealed(2);
    const off = withOperation({ retry: aRetry({ bisect: false }) });
    await handleBatch({ ...kit, config: off, ...refusesAbout(0) }, { batchId: batch }, PLENTY);
    expect([await statuses(2), sizes()]).toEqual([['failed', 'failed'], [2]]);
  });

  it('H5: out of time amid halving, it goes on by message at once, in the smallest parts, and no try is lost', async () => {
    const batch = await sealed(4);
    let calls = 0;
    const short: Delivery = { ...PLENTY, timeLeft: () => (calls++ < 2 ? 6_000 : 5_999) };
    await handleBatch({ ...kit, ...refusesAbout(0) }, { batchId: batch }, short);
    expect(sizes()).toEqual([4, 2]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'in-progress', tries: 0, attempt: 1, split: 1 });
    expect(kit.sent.batch).toEqual([{ batchId: batch, delay: 0 }]);
    await handleBatch({ ...kit, ...refusesAbout(0) }, { batchId: batch }, PLENTY);
    expect(sizes().slice(2)).toEqual([1, 1, 1, 1]);
    expect(await statuses(4)).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded']);
    expect((await kit.tasks.get(id(`${depot}-3`)))?.state).toMatchObject({ attempts: 1 });
  });

  it('H5: a part that nobody could take stays open and is called about later', async () => {
    const batch = await sealed(4);
    kit.answers = [
      { kind: 'refused', reason: 'answered 413', suspect: 'its-size' },
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true },
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true },
      { kind: 'all-succeeded' },
    ];
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(sizes()).toEqual([4, 2, 2, 2]);
    const open = [`${depot}-0`, `${depot}-1`];
    expect(await kit.batches.get(batch)).toMatchObject({ tries: 1, open, counts: { succeeded: 2, failed: 0 } });
    kit.now = NOW + 2_000;
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(kit.calls.at(-1)?.items.map((item) => item.id)).toEqual(open);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', counts: { succeeded: 4, failed: 0 } });
  });

  it('H5: an attempt that is cut short and brought nothing further counts', async () => {
    const batch = await sealed(4);
    kit.answers = [
      { kind: 'refused', reason: 'answered 413', suspect: 'its-size' },
      { kind: 'unavailable', reason: 'answered 429', mayRetryAtOnce: false },
    ];
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ tries: 0, split: 2 });
    kit.now += 60_000;
    await handleBatch(kit, { batchId: batch }, PLENTY);
    expect(sizes()).toEqual([4, 2, 2]);
    expect(await kit.batches.get(batch)).toMatchObject({ tries: 1, split: 2 });
  });

  it('keeps the rate: a call that comes too early gives its message back with the moment that it has reserved', async () => {
    const batch = await sealed(1);
    const slow = { ...kit, config: withOperation({ rateLimit: 0.1 }) };
    await kit.operations.reserveCall(ship, (await kit.operations.read(ship)).nextCallAt, NOW + 5_000);
    await handleBatch(slow, { batchId: batch }, PLENTY);
    expect([kit.calls.length, kit.sent.batch]).toEqual([0, [{ batchId: batch, at: NOW + 5_000, delay: 5 }]]);
    kit.now = NOW + 4_500;
    await handleBatch(slow, { batchId: batch, at: NOW + 5_000 }, PLENTY);
    expect([kit.calls.length, kit.now]).toEqual([1, NOW + 5_000]);
    expect((await kit.operations.read(ship)).nextCallAt).toBe(NOW + 15_000);
  });
});
