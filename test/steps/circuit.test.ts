import { expect, it } from 'vitest';
import { operationFor } from '../../src/domain/config/resolved.ts';
import type { Answer } from '../../src/domain/downstream/downstream.ts';
import { type BatchId, batchIdOf } from '../../src/domain/ids.ts';
import { pauseNow } from '../../src/domain/operations/slots.ts';
import { handleBatch } from '../../src/steps/call/handle-batch.ts';
import { finishBatch } from '../../src/steps/lead/finish-batch.ts';
import { aConfig, aPolicy, aRetry, NOW, operationName, target } from '../factories/factories.ts';
import { PLENTY, type StepKit } from './step-kit.ts';
import { kit, led, suite, where } from './step-suite.ts';

const COOL_DOWN = 30_000;
/** The tests of a store share the operation's row, so each test resets it first. */
const ship = operationName('ship');

suite('a circuit', () => {
  const guarded = (failures: number): StepKit => ({
    ...kit,
    config: aConfig({ batch: aPolicy({ maxSize: 4, maxWait: 5_000 }), circuit: { failures, coolDown: COOL_DOWN } }),
  });
  const sealed = async (tasks = 1): Promise<BatchId> => {
    const { paused } = await kit.operations.read(ship);
    if (paused) await kit.operations.resume(ship, paused.id, NOW);
    await kit.operations.resetFailures(ship);
    await led(tasks);
    await finishBatch(kit, where, batchIdOf(where, 1, 1));
    kit.sent.batch.length = 0;
    kit.events.length = 0;
    return batchIdOf(where, 1, 1);
  };
  const named = () => kit.events.map(({ event }) => event);

  it('opens after `failures` failed attempts, of which the last does not count', async () => {
    const batch = await sealed();
    const deps = guarded(2);
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['called', 'postponed']);
    expect((await kit.batches.get(batch))?.countedAttempts).toBe(1);
    kit.now = NOW + 10_000;
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect(named().slice(2)).toEqual(['called', 'circuit-opened', 'postponed']);
    expect(kit.events[3]).not.toHaveProperty('isMisconfigured');
    const until = kit.now + COOL_DOWN;
    const { paused } = await kit.operations.read(ship);
    expect(paused).toMatchObject({ by: 'circuit', until, reason: 'answered 503' });
    expect(kit.sent.resume).toEqual([{ kind: 'resume', operation: ship, resume: paused?.id, delay: 30 }]);
    expect(await kit.batches.get(batch)).toMatchObject({
      countedAttempts: 1,
      attempt: 2,
      runUntil: until + COOL_DOWN / 2,
    });
  });

  it('stays closed if one batch has fewer attempts than `failures`', async () => {
    const batch = await sealed();
    const { maxAttempts } = operationFor(kit.config, ship).retry;
    kit.answers = [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }];
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      kit.now = NOW + attempt * 100_000;
      await handleBatch(guarded(maxAttempts + 1), { kind: 'due', batchId: batch }, PLENTY);
    }
    expect(named()).not.toContain('circuit-opened');
    expect((await kit.operations.read(ship)).failures).toBe(maxAttempts);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'failed', countedAttempts: maxAttempts });
  });

  it('leaves the only attempt of a batch whose second part was throttled', async () => {
    const batch = await sealed(2);
    const once = guarded(1);
    const config = aConfig({ ...operationFor(once.config, ship), retry: aRetry({ maxAttempts: 1, immediate: 0 }) });
    const handled = () => handleBatch({ ...once, config }, { kind: 'due', batchId: batch }, PLENTY);
    kit.answers = [
      { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false },
      { kind: 'all-succeeded' },
      { kind: 'unavailable', reason: 'answered 429', throttled: true, mayRetryAtOnce: false },
      { kind: 'all-succeeded' },
    ];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await handled();
      kit.now += 10 * COOL_DOWN;
    }
    expect(kit.calls.map(({ items }) => items.length)).toEqual([2, 1, 1, 1]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'succeeded', counts: { succeeded: 2, failed: 0 } });
  });

  it('lets a batch at fault fail in the end, even if it is called whole in between', async () => {
    const batch = await sealed(4);
    const config = aConfig({
      ...operationFor(guarded(5).config, ship),
      retry: aRetry({ maxAttempts: 10, immediate: 0 }),
    });
    kit.answers = [{ kind: 'unavailable', reason: 'answered 500', mayRetryAtOnce: false }];
    for (let attempt = 0; attempt < 40; attempt += 1) {
      kit.now += 10 * COOL_DOWN;
      if (attempt % 2 === 0) {
        await kit.operations.addFailure(ship, 5);
        await kit.operations.pause(ship, { id: 'circuit-of-others', by: 'circuit', since: kit.now, until: kit.now });
        await kit.operations.resume(ship, 'circuit-of-others', kit.now);
        await kit.operations.resetFailures(ship);
      }
      await handleBatch({ ...kit, config }, { kind: 'due', batchId: batch }, PLENTY);
    }
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'failed', counts: { succeeded: 0, failed: 4 } });
    expect(new Set(kit.calls.slice(12).map(({ items }) => items.length))).toEqual(new Set([4, 2]));
  });

  it("ends its pause when the time is over; a person's pause has no end", () => {
    const paused = { id: 'p', by: 'circuit', since: NOW - 9, until: NOW } as const;
    expect(pauseNow({ paused }, NOW - 1)).toEqual(paused);
    expect(pauseNow({ paused }, NOW)).toBeUndefined();
    expect(pauseNow({ paused: { id: 'q', by: 'person', since: 0 } }, NOW)).toBeDefined();
  });

  it('delays batches until another had time for its test; success closes it', async () => {
    const batch = await sealed();
    const deps = guarded(3);
    const until = NOW + COOL_DOWN;
    await kit.operations.addFailure(ship, 3);
    await kit.operations.pause(ship, { id: 'circuit-1', by: 'circuit', since: NOW, until });
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.length, named(), kit.sent.batch]).toMatchObject([0, ['held'], [{ batchId: batch, delay: 46 }]]);
    expect(await kit.batches.get(batch)).toMatchObject({ status: 'sealed', attempt: 0 });
    kit.now = until + 1;
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.length, kit.sent.batch.at(-1)]).toMatchObject([0, { batchId: batch, delay: 23 }]);
    kit.now = until + COOL_DOWN / 2;
    await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['held', 'called', 'circuit-closed', 'finished']);
    expect((await kit.operations.read(ship)).failures).toBe(0);
  });

  it('that is half-open when an attempt begins does not count its failure', async () => {
    const batch = await sealed();
    await kit.operations.addFailure(ship, 3);
    const call = async (): Promise<Answer> => {
      await kit.operations.resetFailures(ship);
      return { kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false };
    };
    await handleBatch({ ...guarded(3), downstreamOf: () => ({ call }) }, { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['called', 'postponed']);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, attempt: 1 });
    expect(await kit.operations.read(ship)).toMatchObject({ failures: 1, lastFailure: 'answered 503' });
  });

  it('is closed by an attempt that began before it opened; waiting Targets are woken', async () => {
    const batch = await sealed();
    await kit.operations.addFailure(ship);
    await kit.operations.enqueue(ship, { target: target('ship/depot=waits'), at: NOW, fence: 4 });
    kit.sent.elect.length = 0;
    const call = async (): Promise<Answer> => {
      await kit.operations.addFailure(ship, 2);
      return { kind: 'all-succeeded' };
    };
    await handleBatch({ ...guarded(3), downstreamOf: () => ({ call }) }, { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['called', 'circuit-closed', 'finished']);
    expect(kit.sent.elect).toEqual([{ kind: 'elect', target: 'ship/depot=waits', wake: 4 }]);
    for (const each of await kit.operations.waiting(ship, 9)) await kit.operations.dequeue(ship, each);
  });

  it('opens at once if the downstream is misconfigured', async () => {
    const batch = await sealed();
    kit.answers = [{ kind: 'unavailable', reason: 'answered 403', mayRetryAtOnce: false, misconfigured: true }];
    await handleBatch(guarded(5), { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['called', 'circuit-opened', 'postponed']);
    expect(kit.events[1]).toMatchObject({ isMisconfigured: true });
    expect((await kit.batches.get(batch))?.countedAttempts).toBe(0);
  });

  const tooMany: Answer = { kind: 'unavailable', reason: 'answered 429', mayRetryAtOnce: false, throttled: true };
  /** Makes an attempt whenever the batch is due, and returns the delay after each, in milliseconds. */
  const attempts = async (deps: StepKit, batch: BatchId, answers: readonly Answer[]): Promise<number[]> => {
    const waits: number[] = [];
    for (const answer of answers) {
      kit.answers = [answer];
      await handleBatch(deps, { kind: 'due', batchId: batch }, PLENTY);
      const { runUntil = kit.now } = (await kit.batches.get(batch)) ?? {};
      waits.push(runUntil - kit.now);
      kit.now = runUntil + 1;
    }
    return waits;
  };

  it('counts no throttled call as a failure or an attempt; the delays grow', async () => {
    const batch = await sealed();
    // The random factor makes each delay half of its maximum.
    const waits = await attempts(guarded(2), batch, Array(4).fill(tooMany));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000]);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, attempt: 4 });
    expect(await kit.operations.read(ship)).toMatchObject({ failures: 0, throttledSince: NOW });
    await attempts(guarded(2), batch, [{ kind: 'all-succeeded' }]);
    expect(named()).not.toContain('circuit-opened');
    expect(named().slice(-2)).toEqual(['called', 'finished']);
    expect(await kit.operations.read(ship)).not.toHaveProperty('throttledSince');
  });

  it('opens if the downstream throttles for `coolDown`, until it accepts a call', async () => {
    const batch = await sealed();
    await kit.operations.markThrottled(ship, NOW - COOL_DOWN + 1);
    await attempts(guarded(5), batch, [tooMany]);
    expect(named()).toEqual(['called', 'postponed']);
    await attempts(guarded(5), batch, [tooMany, tooMany]);
    expect(named().slice(2)).toEqual(Array(2).fill(['called', 'circuit-opened', 'postponed']).flat());
    expect(kit.events[3]).toMatchObject({ isThrottled: true, reason: 'answered 429' });
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 0, attempt: 3 });
    await attempts(guarded(5), batch, [{ kind: 'all-succeeded' }]);
    expect(named().slice(-3)).toEqual(['called', 'circuit-closed', 'finished']);
  });

  it('counts no throttled attempt although other calls have succeeded and it opens', async () => {
    const batch = await sealed();
    await attempts(guarded(5), batch, [{ kind: 'unavailable', reason: 'answered 503', mayRetryAtOnce: false }]);
    await kit.operations.resetFailures(ship);
    await kit.operations.addFailure(ship);
    await kit.operations.markThrottled(ship, NOW - COOL_DOWN);
    await attempts(guarded(5), batch, [tooMany]);
    expect(named().slice(-2)).toEqual(['circuit-opened', 'postponed']);
    expect(await kit.batches.get(batch)).toMatchObject({ countedAttempts: 1, attempt: 2 });
  });

  it('counts a partly throttled attempt if one of its calls was answered', async () => {
    const batch = await sealed();
    kit.answers = [
      { kind: 'results', foreign: 0, items: new Map() },
      { ...tooMany, mayRetryAtOnce: true },
    ];
    await handleBatch(guarded(1), { kind: 'due', batchId: batch }, PLENTY);
    expect(named().at(-1)).toBe('postponed');
    expect(await kit.batches.get(batch), 'it was answered as well').toMatchObject({ countedAttempts: 1 });
  });

  it('that is not configured counts no throttled attempt either', async () => {
    const batch = await sealed();
    const { maxAttempts } = operationFor(kit.config, ship).retry;
    await attempts(kit, batch, Array(maxAttempts + 2).fill(tooMany));
    expect(await kit.batches.get(batch)).toMatchObject({
      countedAttempts: 0,
      attempt: maxAttempts + 2,
      status: 'in-progress',
    });
    expect(await kit.operations.read(ship)).not.toHaveProperty('throttledSince');
    await attempts(kit, batch, [{ kind: 'all-succeeded' }]);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
  });

  it('that is not configured never pauses the operation', async () => {
    const batch = await sealed();
    kit.answers = [{ kind: 'unavailable', reason: 'answered 403', mayRetryAtOnce: false, misconfigured: true }];
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect(named()).toEqual(['called', 'postponed']);
    expect(await kit.operations.read(ship)).not.toHaveProperty('paused');
  });

  it('is not needed for a pause by a person, which delays batches too', async () => {
    const batch = await sealed();
    await kit.locks.pause(where, { id: 'p', by: 'person', since: NOW });
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.length, named(), kit.sent.batch]).toMatchObject([0, ['held'], [{ batchId: batch, delay: 31 }]]);
    await kit.locks.resume(where, 'p', NOW);
    await kit.operations.pause(ship, { id: 'q', by: 'person', since: NOW });
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect([kit.calls.length, named()]).toEqual([0, ['held', 'held']]);
    await kit.operations.resume(ship, 'q', NOW);
    await handleBatch(kit, { kind: 'due', batchId: batch }, PLENTY);
    expect((await kit.batches.get(batch))?.status).toBe('succeeded');
  });
});
