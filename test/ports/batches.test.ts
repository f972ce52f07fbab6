import { expect, it } from 'vitest';
import type { Batch } from '../../src/domain/batches/batch.ts';
import { type BatchId, operationOf, type Target } from '../../src/domain/ids.ts';
import type { Grant } from '../../src/domain/limits/bucket.ts';
import type { BucketId } from '../../src/domain/limits/bucket-id.ts';
import type { FormingBatch } from '../../src/ports/batches.ts';
import { aPostponed, aStart, batchId, candidate, id, NOW, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

describeEach('a batch', storeKinds, (stores) => {
  const forming = (batch: BatchId, target: Target): FormingBatch => ({
    id: batch,
    target,
    sealedBy: 'full',
    candidates: [candidate('a'), candidate('b', 2)],
    oldestAt: NOW - 5,
    createdAt: NOW,
  });
  const sealed = async (batch: BatchId, target: Target): Promise<Batch> => {
    const formed = await stores().batches.form(forming(batch, target));
    return (await stores().batches.seal(formed, [], NOW + 1, 1_000)).batch;
  };

  it('is formed once; the first candidates stand', async () => {
    const { batch, target } = fresh();
    const first = await stores().batches.form(forming(batch, target));
    expect(first).toMatchObject({
      status: 'forming',
      operation: 'ship',
      attempt: 0,
      dropped: [],
      candidates: ['a#1', 'b#2'],
    });
    expect(await stores().batches.form({ ...forming(batch, target), candidates: [], sealedBy: 'waited' })).toEqual(
      first,
    );
    expect(await stores().batches.get(batch)).toEqual(first);
    expect(await stores().batches.get(batchId('none'))).toBeUndefined();
  });

  it('is sealed once; the first members stand', async () => {
    const { batch, target } = fresh();
    const formed = await stores().batches.form(forming(batch, target));
    const { batch: first, byMe } = await stores().batches.seal(formed, [candidate('a')], NOW + 1, 1_000);
    expect(byMe).toBe(true);
    expect(first).toEqual({ ...formed, status: 'sealed', dropped: ['a#1'], sealedAt: NOW + 1 });
    expect(await stores().batches.seal(formed, [], NOW + 9, 1_000)).toEqual({ batch: first, byMe: false });
    expect(await stores().batches.get(batch)).toEqual(first);
  });

  it('without members succeeds when it is sealed', async () => {
    const { batch, target } = fresh();
    const formed = await stores().batches.form(forming(batch, target));
    const { batch: empty } = await stores().batches.seal(formed, formed.candidates, NOW + 1, 1_000);
    expect(empty).toMatchObject({ status: 'succeeded', counts: { succeeded: 0, failed: 0 }, finishedAt: NOW + 1 });
    expect(await stores().batches.get(batch)).toEqual(empty);
    expect(await stores().batches.start(batch, aStart(1, NOW, NOW))).toBe(false);
  });

  it('has one attempt at a time; the next starts after `runUntil`', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    const formed = await batches.form(forming(batch, target));
    expect(await batches.start(batch, aStart(1, NOW, NOW + 100))).toBe(false);
    await batches.seal(formed, [], NOW, 1_000);
    const rivals = await Promise.all([1, 2, 3].map(() => batches.start(batch, aStart(1, NOW, NOW + 100))));
    expect(rivals.filter((started) => started)).toHaveLength(1);
    expect(await batches.start(batch, aStart(2, NOW + 100, NOW + 200))).toBe(false);
    expect(await batches.start(batch, aStart(3, NOW + 101, NOW + 200)), 'one is left out').toBe(false);
    expect(await batches.start(batch, aStart(2, NOW + 101, NOW + 200))).toBe(true);
    expect(await batches.get(batch)).toMatchObject({
      status: 'in-progress',
      attempt: 2,
      startedBy: 'starter-2',
      runUntil: NOW + 200,
      startedAt: NOW,
    });
  });

  it('on hold accepts one check message for each time span', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    const noted = (by: string, after: string, span: number, isUncounted = false) =>
      batches.hold(batch, { by: token(by), after: token(after), span, isUncounted });
    expect(await noted('b', 'a', 7)).toBe(false);
    expect(await batches.get(batch)).toBeUndefined();
    const before = await sealed(batch, target);
    expect([await noted('b', 'a', 7), await noted('c', 'a', 7), await noted('c', 'a', 6)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await noted('d', 'c', 8), await noted('e', 'b', 8), await noted('e', 'b', 7)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await batches.get(batch)).toEqual({ ...before, held: { by: 'd', span: 8, isUncounted: false } });
    // A worker whose clock was ahead stored its message. That message continues.
    expect([await noted('f', 'd', 3), await noted('g', 'e', 3)]).toEqual([true, false]);
    expect(await batches.get(batch)).toMatchObject({ held: { by: 'f', span: 3 } });
    // A message of an uncounted attempt is replaced only by another message of one.
    expect([await noted('h', 'a', 3, true), await noted('i', 'b', 3, true), await noted('j', 'f', 3)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await noted('j', 'f', 4), await noted('k', 'h', 4, true)]).toEqual([true, true]);
    expect(await batches.get(batch)).toMatchObject({ held: { by: 'k', span: 4, isUncounted: true } });
    await batches.start(batch, aStart(1, NOW, NOW + 100));
    expect(await noted('l', 'k', 5)).toBe(true);
    await batches.finish(batch, 1, { status: 'succeeded', counts: { succeeded: 1, failed: 0 }, at: NOW, keep: 1_000 });
    expect(await noted('m', 'l', 6)).toBe(false);
  });

  it('is postponed and finished only by its current attempt', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    await sealed(batch, target);
    await batches.start(batch, aStart(1, NOW, NOW + 100));
    expect(await batches.postpone(batch, 1, aPostponed(NOW + 50))).toBe(true);
    expect(await batches.start(batch, aStart(2, NOW + 51, NOW + 500))).toBe(true);
    const end = { status: 'partly-failed' as const, counts: { succeeded: 1, failed: 1 }, at: NOW + 60, keep: 1_000 };
    expect(await batches.postpone(batch, 1, aPostponed(NOW))).toBe(false);
    expect(await batches.finish(batch, 1, end)).toBeUndefined();
    expect(await batches.finish(batch, 2, end)).toEqual(await batches.get(batch));
    expect(await batches.finish(batch, 2, end)).toBeUndefined();
    expect(await batches.start(batch, aStart(3, NOW + 10_000, NOW + 20_000))).toBe(false);
    expect(await batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
      finishedAt: NOW + 60,
    });
  });

  it('keeps open tasks, job and parts between attempts, and drops them at the end', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    await sealed(batch, target);
    await batches.start(batch, aStart(1, NOW, NOW + 100));
    const quote = '"closed", says Zoë \u{1f69a}';
    const lastAttempt = { endedAt: NOW + 40, reason: 'answered 503', quote, open: 2, pending: 1 };
    const call = { attempt: 1, at: NOW, took: 40, isError: true, reason: 'answered 503', quote, items: 2 };
    const calls = [call, { ...call, items: 1, members: '2' }, { ...call, isError: false, reason: 'results' }];
    const rest = {
      lastAttempt,
      calls,
      countedAttempts: 0,
      counts: { succeeded: 1, failed: 0 },
      open: [id('a')],
      pending: { ids: [id('b')], until: NOW + 900 },
      split: 1,
      parts: [1],
      partFailures: [2],
      spared: [1, 0],
      suspicion: { recoveries: 3, proofs: 1, isExtended: true, inVain: 2 },
      uncounted: 2,
    };
    await batches.postpone(batch, 1, { retryAt: NOW + 50, ...rest });
    expect(await batches.get(batch)).toMatchObject({ ...rest, runUntil: NOW + 50 });
    await batches.start(batch, { ...aStart(2, NOW + 51, NOW + 500), countedAttempts: 1 });
    expect(await batches.get(batch)).toMatchObject({ ...rest, countedAttempts: 1, attempt: 2 });
    await batches.postpone(batch, 2, aPostponed(NOW + 60));
    const after = await batches.get(batch);
    for (const gone of [
      'open',
      'pending',
      'split',
      'parts',
      'partFailures',
      'spared',
      'suspicion',
      'uncounted',
      'startedBy',
    ])
      expect(after).not.toHaveProperty(gone);
    expect(after?.lastAttempt).toEqual({ endedAt: NOW + 60, reason: 'answered 503', open: 2 });
    await batches.start(batch, aStart(3, NOW + 61, NOW + 500));
    await batches.postpone(batch, 3, { retryAt: NOW + 70, ...rest });
    const counts = { succeeded: 1, failed: 1 };
    expect(await batches.finish(batch, 3, { status: 'partly-failed', counts, at: NOW, keep: 1_000 })).toMatchObject({
      status: 'partly-failed',
      counts,
    });
    const end = await batches.get(batch);
    for (const gone of ['open', 'pending', 'split', 'parts', 'partFailures', 'spared', 'suspicion', 'uncounted'])
      expect(end).not.toHaveProperty(gone);
    expect(end).toMatchObject({ counts, lastAttempt });
  });

  it('keeps the moments of its leader until an attempt or its end brings others', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    const moment = (n: number): Grant => ({ bucket: 'limit:api' as BucketId, at: NOW + n, line: NOW, weight: n });
    const stored = async () => (await batches.get(batch))?.grants;
    const grants = [moment(1), { ...moment(2), lease: 'lease' }];
    await batches.seal(await batches.form({ ...forming(batch, target), grants }), [], NOW, 1_000);
    await batches.start(batch, aStart(1, NOW, NOW + 100));
    expect(await stored()).toEqual(grants);
    await batches.postpone(batch, 1, { ...aPostponed(NOW + 50), grants: [moment(3)] });
    expect(await stored()).toEqual([moment(3)]);
    await batches.start(batch, { ...aStart(2, NOW + 51, NOW + 500), grants: [moment(3), moment(4)] });
    await batches.postpone(batch, 2, aPostponed(NOW + 60));
    expect(await stored()).toEqual([moment(3), moment(4)]);
  });

  it('is listed as under way after an attempt, or a long wait, until its end', async () => {
    const { target } = fresh();
    const { batches } = stores();
    const operation = operationOf(target);
    const [first, second, third] = [1, 2, 3].map((n) => batchId(`${target}#1#${n}`)) as [BatchId, BatchId, BatchId];
    const listed = async () => (await batches.underWay(operation, 10)).items.filter((each) => each.target === target);
    for (const [index, id] of [first, second, third].entries())
      await batches.seal(await batches.form({ ...forming(id, target), oldestAt: NOW - index }), [], NOW, 1_000);
    for (const id of [first, third]) await batches.start(id, aStart(1, NOW, NOW + 100));
    expect(await listed()).toEqual([]);
    const lastAttempt = { endedAt: NOW + 40, reason: 'answered 429', open: 2, pending: 1 };
    await batches.postpone(first, 1, aPostponed(NOW + 50, { lastAttempt }));
    await batches.hold(second, { by: token('m'), span: 1, isUncounted: false, after: token('n') });
    // The function of its first attempt died, so nothing was stored about that attempt.
    await batches.start(third, aStart(2, NOW + 101, NOW + 200));
    const entry = (id: BatchId, oldestAt: number) => ({ id, target, oldestAt, tasks: 2 });
    const expected = [entry(third, NOW - 2), entry(second, NOW - 1), { ...entry(first, NOW), lastAttempt }];
    expect(await listed()).toEqual(expected);
    await batches.start(first, aStart(2, NOW + 51, NOW + 500));
    expect(await listed()).toEqual(expected);
    const end = { status: 'succeeded', counts: { succeeded: 2, failed: 0 }, at: NOW + 60, keep: 1_000 } as const;
    const calls = [{ attempt: 2, at: NOW + 52, took: 5, isError: false, reason: 'results', items: 2 }];
    expect((await batches.finish(first, 2, { ...end, calls }))?.calls).toEqual(calls);
    expect(await listed()).toEqual(expected.slice(0, 2));
    const page = await batches.underWay(operation, 1);
    expect(page.items).toHaveLength(1);
    expect((await batches.underWay(operation, 10, page.cursor)).items).not.toContainEqual(page.items[0]);
  });

  it('is listed for its Target once sealed, newest first', async () => {
    const { target } = fresh();
    const { batches } = stores();
    for (const n of [1, 2, 3]) {
      const formed = await batches.form(forming(batchId(`${target}#1#${n}`), target));
      if (n < 3) await batches.seal(formed, [], NOW + n, 1_000);
    }
    const page = await batches.ofTarget(target, 1);
    expect(page.items).toEqual([`${target}#1#2`]);
    expect((await batches.ofTarget(target, 5, page.cursor)).items).toEqual([`${target}#1#1`]);
  });
});
