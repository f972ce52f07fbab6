import { expect, it } from 'vitest';
import { type Config, type Operation, operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer, Downstream } from '../../src/domain/downstream/downstream.ts';
import { batchIdOf } from '../../src/domain/ids.ts';
import type { Delivery } from '../../src/ports/machine.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { electLeader } from '../../src/steps/lead/elect-leader.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { register } from '../../src/steps/register/register.ts';
import { aConfig, aPolicy, aRetry, id, NOW, operationName } from '../factories/factories.ts';
import { PLENTY } from './step-kit.ts';
import { depot, kit, led, message, suite, where } from './step-suite.ts';

const ship = operationName('ship');

suite('the batch handler', () => {
  const sealed = async (count: number): Promise<ReturnType<typeof batchIdOf>> => {
    await led(count);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    return batchIdOf(where, 1, 1);
  };
  const withOperation = (fields: Partial<Operation>): Config =>
    aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), ...fields });
  /** Refuses each call that includes the task. */
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

  it("fails only the invalid task with the downstream's reason (H4)", async () => {
    const batch = await sealed(4);
    await handleBatch({ ...kit, ...refusesAbout(2) }, { kind: 'due', batchId: batch }, PLENTY);
    expect(await statuses(4)).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded']);
    expect((await kit.tasks.get(id(`${depot}-2`)))?.state).toMatchObject({
      error: { code: 'refused', message: 'answered 400: no such parcel', retriable: false },
    });
    // The second half is not called whole: the first half of the batch succeeded, so the second one must contain the invalid task.
    expect(sizes()).toEqual([4, 2, 1, 1]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'partly-failed', countedAttempts: 1 });
  });

  it.each([
    { what: 'separately if the inputs differ', first: 1_500, calls: [1, 1] },
    { what: 'together if they share inputs', first: 0, calls: [2] },
  ])('calls merged tasks with many inputs $what (H4)', async ({ first, calls }) => {
    const inputs = (n: number) => Array.from({ length: 1_500 }, (_, index) => n * first + index);
    await register(
      kit,
      [0, 1].map((n) => message(n, { payload: { depot, inputs: inputs(n) } })),
    );
    await electLeader(kit, { kind: 'elect', target: where });
    const batch = batchIdOf(where, 1, 1);
    await finishBatch(kit, where, batch);
    const config = withOperation({ merge: { keys: 'inputs[]' } });
    await handleBatch({ ...kit, config }, { kind: 'due', batchId: batch }, PLENTY);
    expect([sizes(), await statuses(2)]).toEqual([calls, ['succeeded', 'succeeded']]);
  });

  it('fails all tasks of a refused call if `bisect` is off (H4)', async () => {
    const batch = await sealed(2);
    const off = withOperation({ retry: aRetry({ bisect: false }) });
    await handleBatch({ ...kit, config: off, ...refusesAbout(0) }, { kind: 'due', batchId: batch }, PLENTY);
    expect([await statuses(2), sizes()]).toEqual([['failed', 'failed'], [2]]);
  });

  const TOO_LARGE: Answer = { kind: 'refused', reason: 'answered 200', suspect: 'its-answer' };
  const DONE: Answer = { kind: 'all-succeeded' };
  const BUSY: Answer = { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true };

  it('halves a batch whose answer is too large, and counts no failure (H4)', async () => {
    const batch = await sealed(4);
    kit.answers = [TOO_LARGE, DONE];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect([sizes(), await statuses(4)]).toEqual([[4, 2, 2], Array(4).fill('succeeded')]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', countedAttempts: 1 });
    expect(await kit.operations.read(ship)).toMatchObject({ failures: 0 });
  });

  it('fails a single task whose answer is too large, without another call (H4)', async () => {
    const batch = await sealed(2);
    kit.answers = [TOO_LARGE, TOO_LARGE, DONE];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect([sizes(), await statuses(2)]).toEqual([
      [2, 1, 1],
      ['failed', 'succeeded'],
    ]);
    const error = { code: 'answer-too-large', retriable: true };
    expect((await kit.tasks.get(id(`${depot}-0`)))?.state).toMatchObject({ error, attempts: 1 });
  });

  it('fails all tasks of a too large answer at once without `bisect` (H4)', async () => {
    const batch = await sealed(2);
    kit.answers = [TOO_LARGE];
    const off = withOperation({ retry: aRetry({ bisect: false }) });
    await handleBatch({ ...kit, config: off }, { kind: 'due', batchId: batch }, PLENTY);
    expect([sizes(), await statuses(2)]).toEqual([[2], ['failed', 'failed']]);
  });

  const HALVES_FAILED = [TOO_LARGE, BUSY, BUSY, BUSY, BUSY, DONE];
  const NO_REPORT: Answer[] = [TOO_LARGE, { kind: 'pending' }, { kind: 'pending' }, BUSY, BUSY, DONE];
  it.each([
    ['its halves failed', HALVES_FAILED, false],
    ['its halves failed, with isolation', HALVES_FAILED, true],
    ['no job reported', NO_REPORT, false],
    ['no job reported, with isolation', NO_REPORT, true],
  ])('repeats no call whose answer was too large, though %s (H5)', async (_, answers, isolate) => {
    const batch = await sealed(4);
    kit.answers = [...answers];
    const config = withOperation({ circuit: null, retry: aRetry({ immediate: 0, maxAttempts: 9, isolate }) });
    for (let n = 0; n < 6; n += 1) {
      await handleBatch({ ...kit, config }, { kind: 'due', batchId: batch }, PLENTY);
      kit.now += 30 * 24 * 3_600_000;
    }
    expect(await statuses(4)).toEqual(Array(4).fill('succeeded'));
    expect(sizes().filter((size) => size === 4)).toHaveLength(1);
  });

  it('repeats no such call after an attempt that isolated tasks at fault (H8)', async () => {
    const batch = await sealed(4);
    const config = withOperation({ circuit: null, retry: aRetry({ immediate: 0, maxAttempts: 9 }) });
    const throttled: Answer = { kind: 'unavailable', reason: 'answered 429', throttled: true, mayRetryAtOnce: false };
    kit.answers = [BUSY, TOO_LARGE, throttled, DONE];
    for (let n = 0; n < 3; n += 1) {
      // The call of another batch succeeds, so the batch is called whole again.
      if (n === 2) await kit.operations.resetFailures(ship);
      await handleBatch({ ...kit, config }, { kind: 'due', batchId: batch }, PLENTY);
      kit.now += 3_600_000;
    }
    expect([sizes(), await statuses(4)]).toEqual([[4, 2, 1, 1, 1, 1, 1], Array(4).fill('succeeded')]);
  });

  it('goes on by message if time ends during halving; no attempt counts (H5)', async () => {
    const batch = await sealed(4);
    let calls = 0;
    const short: Delivery = { ...PLENTY, timeLeft: () => (calls++ < 2 ? 6_000 : 5_999) };
    await handleBatch({ ...kit, ...refusesAbout(0) }, { kind: 'due', batchId: batch }, short);
    expect(sizes()).toEqual([4, 2]);
    expect(await kit.batches.get(batch)).toMatchObject({
      status: 'in-progress',
      countedAttempts: 0,
      attempt: 1,
      split: 1,
    });
    expect(kit.sent.batch).toEqual([{ kind: 'due', batchId: batch, delay: 0 }]);
    await handleBatch({ ...kit, ...refusesAbout(0) }, { kind: 'due', batchId: batch }, PLENTY);
    expect(sizes().slice(2)).toEqual([1, 1, 1, 1]);
    expect(await statuses(4)).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded']);
    expect((await kit.tasks.get(id(`${depot}-3`)))?.state).toMatchObject({ attempts: 1 });
  });

  it('leaves a part open if the downstream was unavailable for it (H5)', async () => {
    const batch = await sealed(4);
    kit.answers = [
      { kind: 'refused', reason: 'answered 413', suspect: 'its-size' },
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true },
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: true },
      { kind: 'all-succeeded' },
    ];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(sizes()).toEqual([4, 2, 2, 2]);
    const open = [`${depot}-0`, `${depot}-1`];
    expect(await kit.batches.get(batch)).toMatchObject({
      countedAttempts: 1,
      open,
      counts: { succeeded: 2, failed: 0 },
    });
    kit.now = NOW + 2_000;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(kit.calls.at(-1)?.items.map((item) => item.id)).toEqual(open);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', counts: { succeeded: 4, failed: 0 } });
  });

  it('counts an attempt that was cut short without progress (H5)', async () => {
    const batch = await sealed(4);
    kit.answers = [
      { kind: 'refused', reason: 'answered 413', suspect: 'its-size' },
      { kind: 'unavailable', reason: 'answered 429', mayRetryAtOnce: false },
    ];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, split: 2 });
    kit.now += 60_000;
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(sizes()).toEqual([4, 2, 2]);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 1, split: 2 });
  });

  it.each([
    [['answered 503', 'answered 429'], 1, 1],
    [['answered 503', 'answered 403'], 1, 5],
    [['answered 503', 'answered 503'], 1, 1],
    [['answered 429', 'answered 429'], 0, 0],
    [['answered 429', 'answered 403'], 1, 5],
  ])('counts an attempt unless throttled: %j (H5)', async (reasons, countedAttempts, failures) => {
    const batch = await sealed(4);
    kit.answers = [
      { kind: 'refused', reason: 'answered 413', suspect: 'its-size' },
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false },
    ];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, split: 2 });
    kit.now += 60_000;
    kit.calls.length = 0;
    kit.answers = reasons.map((reason) => ({
      ...{ kind: 'unavailable', reason, mayRetryAtOnce: true },
      ...(reason === 'answered 429' ? { throttled: true } : {}),
      ...(reason === 'answered 403' ? { misconfigured: true } : {}),
    }));
    const before = await kit.operations.read(ship);
    const config = withOperation({ circuit: { failures: 5, coolDown: 30_000 }, retry: aRetry({ immediate: 0 }) });
    await handleBatch({ ...kit, config }, { kind: 'due', batchId: batch }, PLENTY);
    expect(sizes()).toEqual([2, 2]);
    const isOpened = (await kit.operations.read(ship)).paused !== undefined;
    expect([(await kit.batches.get(batch))?.countedAttempts, isOpened]).toEqual([
      isOpened ? 0 : countedAttempts,
      failures === 5,
    ]);
    expect((await kit.operations.read(ship)).failures - before.failures).toBe(failures);
    await kit.operations.resetFailures(ship);
    const { paused } = await kit.operations.read(ship);
    if (paused) await kit.operations.resume(ship, paused.id, NOW);
  });

  const LATER: Answer = { kind: 'pending' };
  it('gives all jobs the deadline of the job that began last (H5)', async () => {
    const batch = await sealed(4);
    const patient = { ...kit, config: withOperation({ retry: aRetry({ maxAttempts: 9, isolate: false }) }) };
    const { deadline } = operationFor(patient.config, ship).downstream;
    const until = async () => ((await kit.batches.get(batch))?.pending?.until ?? 0) - NOW;
    const unavailable: Answer = { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false };
    kit.answers = [{ kind: 'refused', reason: 'answered 413', suspect: 'its-size' }, LATER, unavailable];
    await handleBatch(patient, { kind: 'due', batchId: batch }, PLENTY);
    expect(await until()).toBe(deadline);
    expect((await kit.batches.get(batch))?.pending?.ids).toHaveLength(2);
    for (const [after, answer, expected] of [
      [60_000, unavailable, deadline],
      [600_000, LATER, 600_000 + deadline],
    ] as const) {
      kit.now = NOW + after;
      [kit.calls.length, kit.answers] = [0, [answer]];
      await handleBatch(patient, { kind: 'due', batchId: batch }, PLENTY);
      expect([sizes(), await until()]).toEqual([[2], expected]);
    }
    expect((await kit.batches.get(batch))?.pending?.ids).toHaveLength(4);
    const { pending, runUntil } = (await kit.batches.get(batch)) ?? {};
    expect(runUntil, 'the batch is due again at the deadline').toBe(pending?.until);
    // No job has reported. All tasks are called again, with a new deadline.
    kit.now = NOW + 600_000 + deadline + 1;
    [kit.calls.length, kit.answers] = [0, [LATER]];
    await handleBatch(patient, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.flatMap(({ items }) => items).length, await until()]).toEqual([4, kit.now - NOW + deadline]);
  });
});
