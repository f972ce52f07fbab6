import { expect, it } from 'vitest';
import type { Batch } from '../../src/batching/batch.ts';
import type { BatchId, Target, TaskId } from '../../src/batching/ids.ts';
import { NO_LOCK } from '../../src/batching/lock.ts';
import { type NewTask, PAYLOAD_MAX_BYTES } from '../../src/batching/task.ts';
import type { FinishingBatch, FormingBatch } from '../../src/ports.ts';
import { aStart, aTask, batchId, candidate, id, NOW, target, token } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { storeKinds } from './stores.ts';

/** Tests share an engine: each works on names of its own. */
let made = 0;
const fresh = (): { readonly t: (n: number) => TaskId; readonly target: Target; readonly batch: BatchId } => {
  made += 1;
  const run = `r${made}`;
  return { t: (n) => id(`${run}-${n}`), target: target(`ship/depot=${run}`), batch: batchId(`ship/depot=${run}#1#1`) };
};

const finishing = (batch: BatchId, target: Target, fields: Partial<FinishingBatch> = {}): FinishingBatch => ({
  id: batch,
  target,
  attempts: 1,
  at: NOW,
  keep: 3_600_000,
  ...fields,
});

describeEach('tasks', storeKinds, (stores) => {
  it('are inserted once; a second insert shows the first', async () => {
    const { t } = fresh();
    const first = aTask({ id: t(1), correlationId: 'c-1' });
    const inserted = await stores().tasks.insert([first, aTask({ id: t(2) })]);
    expect(inserted).toMatchObject([
      { isNew: true, stored: { id: t(1) } },
      { isNew: true, stored: { id: t(2) } },
    ]);
    const again = await stores().tasks.insert([
      aTask({ id: t(3) }),
      aTask({ id: t(1), payload: '{"other":1}', createdAt: NOW + 5 }),
    ]);
    const { payload: _, ...stored } = first;
    expect(again).toEqual([expect.objectContaining({ isNew: true }), { isNew: false, stored: inserted[0]?.stored }]);
    const expected = { ...stored, run: 1, payloadApart: false, state: { status: 'created' } };
    expect(await stores().tasks.get(t(1))).toEqual(expected);
    expect(await stores().tasks.get(t(9))).toBeUndefined();
  });

  it('are inserted more than one request at a time', async () => {
    const { t } = fresh();
    const all = Array.from({ length: 137 }, (_, n) => aTask({ id: t(n) }));
    await stores().tasks.insert(all.filter((_, n) => n % 3 === 0));
    const answers = await stores().tasks.insert(all);
    expect(answers.map(({ isNew }) => isNew)).toEqual(all.map((_, n) => n % 3 !== 0));
  });

  const LARGE = `{"s":"${'ü'.repeat(PAYLOAD_MAX_BYTES / 2 - 10)}"}`;
  /** Registers as the step does: what is apart by the stored row gets its payload stored. */
  const stored = async (...tasks: NewTask[]): Promise<void> => {
    const inserted = await stores().tasks.insert(tasks);
    await stores().tasks.storePayloads(tasks.filter((_, index) => inserted[index]?.stored.payloadApart));
  };

  it('keep their payload to the letter, small or large', async () => {
    const { t, batch } = fresh();
    const payloads = ['{ "n":12345678901234567890, "s":"ü\\u00fc\\"" }', `{"s":"${'x'.repeat(3_000)}"}`, LARGE];
    const tasks = payloads.map((payload, n) => aTask({ id: t(n), payload }));
    await stored(...tasks);
    await stores().tasks.claim(
      tasks.map((task) => candidate(task.id)),
      batch,
    );
    const { open, lost } = await stores().tasks.members(
      tasks.map((task) => task.id),
      batch,
    );
    expect(lost).toEqual([]);
    for (const [n, payload] of payloads.entries()) {
      expect((await stores().tasks.payload(t(n))) === payload, `payload ${n}`).toBe(true);
      expect(open[n]?.payload === payload, `payload ${n} of the batch`).toBe(true);
    }
  });

  it('whose payload is apart is so by its stored row, whatever a message with the same payload would be', async () => {
    const { t } = fresh();
    // Just small enough for the row, but for the correlation id of the first message.
    const payload = `{"s":"${'x'.repeat(540)}"}`;
    const [first] = await stores().tasks.insert([aTask({ id: t(1), payload, correlationId: 'c'.repeat(128) })]);
    const [again] = await stores().tasks.insert([aTask({ id: t(1), payload })]);
    const [other] = await stores().tasks.insert([aTask({ id: t(2), payload: '{}' })]);
    expect([first?.stored.payloadApart, again?.stored.payloadApart, other?.stored.payloadApart]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('without a stored payload are told from the others, and keep none of them waiting', async () => {
    const { t, batch } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), payload: LARGE })]);
    await stored(aTask({ id: t(2) }));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    const { open, lost } = await stores().tasks.members([t(1), t(2)], batch);
    expect([open.map((each) => each.id), lost]).toEqual([[t(2)], [t(1)]]);
  });

  it('whose id had another payload before keep to their own', async () => {
    const { t } = fresh();
    const monday = aTask({ id: t(1), payload: LARGE });
    const tuesday = aTask({ id: t(1), payload: LARGE.replace('ü', 'ö') });
    // Monday's task expired, its payload row is there still.
    await stores().tasks.storePayloads([monday]);
    await stored(tuesday);
    expect((await stores().tasks.payload(t(1))) === tuesday.payload).toBe(true);
  });

  it('are claimed by one batch only, however often it claims', async () => {
    const { t, batch } = fresh();
    await stores().tasks.insert([aTask({ id: t(1) }), aTask({ id: t(2) })]);
    expect(await stores().tasks.claim([candidate(t(1))], batch)).toEqual([true]);
    const other = batchId(`${batch}-other`);
    expect(
      await stores().tasks.claim([candidate(t(1)), candidate(t(2)), candidate(t(3)), candidate(t(2), 2)], other),
    ).toEqual([false, true, false, false]);
    expect(await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch)).toEqual([true, false]);
    expect(await stores().tasks.get(t(1))).toMatchObject({ state: { status: 'batched', batchId: batch } });
  });

  it('of two claims at once one wins', async () => {
    const { t, batch, target } = fresh();
    const ids = Array.from({ length: 60 }, (_, n) => t(n));
    await stores().tasks.insert(ids.map((each) => aTask({ id: each, target })));
    const rivals = [batch, batchId(`${batch}-b`), batchId(`${batch}-c`)];
    const wins = await Promise.all(
      rivals.map((rival) =>
        stores().tasks.claim(
          ids.map((each) => candidate(each)),
          rival,
        ),
      ),
    );
    for (const [n] of ids.entries()) expect(wins.filter((claims) => claims[n])).toHaveLength(1);
  });

  it('finish once: the first result stands, whoever comes later', async () => {
    const { t, batch, target } = fresh();
    const ids = [t(1), t(2), t(3)];
    await stores().tasks.insert(ids.map((each) => aTask({ id: each, target })));
    await stores().tasks.claim(
      ids.map((each) => candidate(each)),
      batch,
    );
    const error = { code: 'bad', message: 'no such depot', retriable: false };
    const first = await stores().tasks.finish(
      [
        { id: t(1), outcome: { status: 'succeeded', result: '{"n": 1}' } },
        { id: t(2), outcome: { status: 'failed', error } },
      ],
      finishing(batch, target, { attempts: 2 }),
    );
    expect(first).toEqual(['succeeded', 'failed']);
    const later = await stores().tasks.finish(
      [
        { id: t(2), outcome: { status: 'succeeded' } },
        { id: t(3), outcome: { status: 'succeeded', resultOmitted: 300_000 } },
        { id: t(4), outcome: { status: 'succeeded' } },
      ],
      finishing(batch, target, { attempts: 3, at: NOW + 1 }),
    );
    expect(later).toEqual(['failed', 'succeeded', undefined]);
    expect(
      await stores().tasks.finish(
        [{ id: t(1), outcome: { status: 'failed', error } }],
        finishing(batchId('b#9#9'), target),
      ),
    ).toEqual([undefined]);
    expect((await stores().tasks.get(t(1)))?.state).toEqual({
      status: 'succeeded',
      batchId: batch,
      attempts: 2,
      finishedAt: NOW,
      result: '{"n": 1}',
    });
    expect((await stores().tasks.get(t(2)))?.state).toEqual({
      status: 'failed',
      batchId: batch,
      attempts: 2,
      finishedAt: NOW,
      error,
    });
    expect((await stores().tasks.get(t(3)))?.state).toMatchObject({ resultOmitted: 300_000 });
    const members = await stores().tasks.members([...ids, t(4)], batch);
    expect(members).toEqual({ open: [], lost: [], counts: { succeeded: 2, failed: 1 } });
  });

  it('that failed are found by their Target, newest first, page by page', async () => {
    const { t, batch, target } = fresh();
    const ids = [t(1), t(2), t(3), t(4)];
    await stores().tasks.insert(ids.map((each) => aTask({ id: each, target })));
    await stores().tasks.claim(
      ids.map((each) => candidate(each)),
      batch,
    );
    const error = { code: 'bad', message: 'm', retriable: false };
    for (const [n, each] of ids.entries())
      await stores().tasks.finish(
        [{ id: each, outcome: n === 1 ? { status: 'succeeded' } : { status: 'failed', error } }],
        finishing(batch, target, { at: NOW + n }),
      );
    const page = await stores().tasks.failed(target, 2);
    expect(page.items).toEqual([t(4), t(3)]);
    const rest = await stores().tasks.failed(target, 2, page.cursor);
    expect(rest.items).toEqual([t(1)]);
  });

  it('belong to a batch only while they show it', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), target })]);
    expect(await stores().tasks.members([t(1)], batch)).toEqual({
      open: [],
      lost: [],
      counts: { succeeded: 0, failed: 0 },
    });
  });
});

describeEach('waiting rows', storeKinds, (stores) => {
  const waitingTask = (taskId: TaskId, target: Target, createdAt: number) => ({
    id: taskId,
    run: 1,
    target,
    createdAt,
    bytes: 42,
  });

  it('come in the order of their turns, up to a limit', async () => {
    const { t, target } = fresh();
    const tasks = [3, 1, 2].map((n) => waitingTask(t(n), target, NOW + n));
    await stores().waiting.put(tasks);
    await stores().waiting.put(tasks);
    const rows = await stores().waiting.first(target, 10);
    expect(rows).toEqual(
      [1, 2, 3].map((n) => ({ entry: `${NOW + n}#${t(n)}#1`, candidate: candidate(t(n)), at: NOW + n, bytes: 42 })),
    );
    expect(await stores().waiting.first(target, 2)).toEqual(rows.slice(0, 2));
    expect(await stores().waiting.count(target, 10)).toBe(3);
    expect(await stores().waiting.count(target, 2)).toBe(2);
  });

  it('are removed one by one, again without harm, and without touching the lock or other Targets', async () => {
    const [one, other] = [fresh(), fresh()];
    await stores().waiting.put([
      waitingTask(one.t(1), one.target, NOW),
      waitingTask(one.t(2), one.target, NOW),
      waitingTask(other.t(1), other.target, NOW),
    ]);
    await stores().locks.acquire(one.target, {
      fence: 1,
      token: token('a'),
      seen: { fence: 0 },
      now: NOW,
      until: NOW + 10,
    });
    const [first] = await stores().waiting.first(one.target, 1);
    for (const _ of ['once', 'again']) await stores().waiting.remove(one.target, [first?.entry ?? '', 'no such entry']);
    expect(await stores().waiting.first(one.target, 10)).toHaveLength(1);
    expect(await stores().waiting.first(other.target, 10)).toHaveLength(1);
    expect((await stores().locks.read(one.target)).fence).toBe(1);
  });

  it('are written, read and removed by the hundreds', async () => {
    const { t, target } = fresh();
    const tasks = Array.from({ length: 310 }, (_, n) => waitingTask(t(n), target, NOW + n));
    await stores().waiting.put(tasks);
    const rows = await stores().waiting.first(target, 1_000);
    expect(rows.map(({ at }) => at)).toEqual(tasks.map(({ createdAt }) => createdAt));
    await stores().waiting.remove(
      target,
      rows.slice(0, 300).map(({ entry }) => entry),
    );
    expect(await stores().waiting.count(target, 1_000)).toBe(10);
  });
});

describeEach('a lock', storeKinds, (stores) => {
  const mine = { fence: 1, token: token('mine') };
  const take = { ...mine, seen: { fence: 0 }, now: NOW, until: NOW + 1_000 };

  it('nobody has taken reads as fence 0', async () => {
    expect(await stores().locks.read(fresh().target)).toEqual(NO_LOCK);
  });

  it('is read with others at once, each in its place', async () => {
    const [one, none, other] = [fresh().target, fresh().target, fresh().target];
    const { locks } = stores();
    await locks.acquire(one, take);
    await locks.burn(other, 7, 0, NOW);
    expect(await locks.readAll([one, none, other])).toEqual([await locks.read(one), NO_LOCK, await locks.read(other)]);
    expect(await locks.readAll([])).toEqual([]);
  });

  it('is taken by one', async () => {
    const { target } = fresh();
    const { locks } = stores();
    const rivals = Array.from({ length: 8 }, (_, n) => locks.acquire(target, { ...take, token: token(`t${n}`) }));
    expect((await Promise.all(rivals)).filter((won) => won)).toHaveLength(1);
    expect(await locks.acquire(target, { ...take, fence: 2, seen: { fence: 1 }, token: token('late') })).toBe(false);
    expect(await locks.read(target)).toMatchObject({ fence: 1, lockedUntil: NOW + 1_000 });
  });

  it('is taken over once its lease has ended, by who saw its fence', async () => {
    const { target } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    const later = { token: token('next'), now: NOW + 1_001, until: NOW + 5_000 };
    expect(await locks.acquire(target, { ...later, fence: 2, seen: { fence: 1 }, now: NOW + 1_000 })).toBe(false);
    expect(await locks.acquire(target, { ...later, fence: 1, seen: { fence: 0 } })).toBe(false);
    expect(await locks.acquire(target, { ...later, fence: 2, seen: { fence: 1 } })).toBe(true);
    expect(await locks.read(target)).toEqual({ fence: 2, round: 0, holder: 'next', lockedUntil: NOW + 5_000 });
  });

  it('is released, and handed over, by its holder alone and never with a batch open', async () => {
    const { target, batch } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    const next = { token: token('next'), seen: { fence: 1 }, now: NOW, until: NOW + 9_000 };
    const foreign = [
      { fence: 1, token: token('other') },
      { fence: 2, token: token('mine') },
    ];
    for (const other of foreign) {
      expect(await locks.release(target, other)).toBe(false);
      expect(await locks.handOver(target, other, next)).toBe(false);
      expect(await locks.openBatch(target, other, { batch, round: 1, by: token('turn'), until: NOW })).toBe(false);
    }
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW + 2_000 })).toBe(true);
    expect(await locks.release(target, mine)).toBe(false);
    expect(await locks.handOver(target, mine, next)).toBe(false);
    await locks.closeBatch(target, batchId('another'));
    expect((await locks.read(target)).openBatch).toBe(batch);
    await locks.closeBatch(target, batch);
    await locks.closeBatch(target, batch);
    expect(await locks.handOver(target, mine, next)).toBe(true);
    expect(await locks.release(target, mine)).toBe(false);
    expect(await locks.release(target, { fence: 2, token: token('next') })).toBe(true);
    expect(await locks.read(target)).toEqual({ fence: 2, round: 1, lockedUntil: NOW + 9_000 });
  });

  it('that was flushed meanwhile is not handed over: its leader has to look again', async () => {
    const { target } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    await locks.flush(target, NOW + 3);
    const next = { token: token('next'), now: NOW, until: NOW + 9_000 };
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1 } })).toBe(false);
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1, flushedAt: NOW + 2 } })).toBe(false);
    expect(await locks.handOver(target, mine, { ...next, seen: { fence: 1, flushedAt: NOW + 3 } })).toBe(true);
  });

  it('opens one batch at a time, each in the round after the last', async () => {
    const { target, batch } = fresh();
    const { locks } = stores();
    await locks.acquire(target, take);
    expect(await locks.openBatch(target, mine, { batch, round: 2, by: token('turn'), until: NOW })).toBe(false);
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW })).toBe(true);
    expect(await locks.openBatch(target, mine, { batch: batchId('b2'), round: 2, by: token('turn'), until: NOW })).toBe(
      false,
    );
    await locks.closeBatch(target, batch);
    expect(await locks.openBatch(target, mine, { batch, round: 1, by: token('turn'), until: NOW })).toBe(false);
    expect(await locks.openBatch(target, mine, { batch: batchId('b2'), round: 2, by: token('turn'), until: NOW })).toBe(
      true,
    );
  });

  it('whose fence is burnt is free for the one after it', async () => {
    const { target } = fresh();
    const { locks } = stores();
    expect(await locks.burn(target, 1, 0, NOW)).toBe(true);
    expect(await locks.burn(target, 1, 0, NOW)).toBe(false);
    expect(await locks.acquire(target, { ...take, fence: 2, seen: { fence: 1 } })).toBe(true);
    expect(await locks.burn(target, 3, 2, NOW)).toBe(false);
  });

  it('shows when it was flushed, and its first waiting row, at a glance', async () => {
    const { target, t } = fresh();
    const { locks, waiting } = stores();
    expect(await locks.glance(target)).toEqual({ lock: NO_LOCK });
    await waiting.put([2, 1].map((n) => ({ id: t(n), run: 1, target, createdAt: NOW + n, bytes: 1 })));
    expect((await locks.flush(target, NOW + 7)).flushedAt).toBe(NOW + 7);
    // Two clocks differ, or a request is repeated late: a flush is not taken back.
    expect((await locks.flush(target, NOW + 5)).flushedAt).toBe(NOW + 7);
    // Who read the lock before the flush has to look again: it may be due now.
    expect(await locks.acquire(target, take)).toBe(false);
    expect(await locks.acquire(target, { ...take, seen: { fence: 0, flushedAt: NOW + 7 } })).toBe(true);
    const glance = await locks.glance(target);
    expect(glance.lock).toEqual({ fence: 1, round: 0, holder: 'mine', lockedUntil: NOW + 1_000, flushedAt: NOW + 7 });
    expect(glance.first?.candidate).toBe(candidate(t(1)));
  });

  it('makes its Target known to its operation, page by page', async () => {
    const names = ['b', 'a', 'c'].map((name) => target(`paging/depot=${name}`));
    const { locks } = stores();
    for (const each of names) await locks.acquire(each, take);
    const operation = 'paging' as Parameters<typeof locks.targets>[0];
    const page = await locks.targets(operation, 2);
    const rest = await locks.targets(operation, 2, page.cursor);
    expect([...page.items, ...rest.items]).toEqual(names.toSorted());
    expect(rest.cursor).toBeUndefined();
  });
});

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

  it('is formed once: its first candidates stand', async () => {
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

  it('is sealed once: its first members stand', async () => {
    const { batch, target } = fresh();
    const formed = await stores().batches.form(forming(batch, target));
    const { batch: first, byMe } = await stores().batches.seal(formed, [candidate('a')], NOW + 1, 1_000);
    expect(byMe).toBe(true);
    expect(first).toEqual({ ...formed, status: 'sealed', dropped: ['a#1'], sealedAt: NOW + 1 });
    expect(await stores().batches.seal(formed, [], NOW + 9, 1_000)).toEqual({ batch: first, byMe: false });
    expect(await stores().batches.get(batch)).toEqual(first);
  });

  it('without members has succeeded as soon as it is sealed', async () => {
    const { batch, target } = fresh();
    const formed = await stores().batches.form(forming(batch, target));
    const { batch: empty } = await stores().batches.seal(formed, formed.candidates, NOW + 1, 1_000);
    expect(empty).toMatchObject({ status: 'succeeded', counts: { succeeded: 0, failed: 0 }, finishedAt: NOW + 1 });
    expect(await stores().batches.get(batch)).toEqual(empty);
    expect(await stores().batches.start(batch, aStart(1, NOW, NOW))).toBe(false);
  });

  it('has one attempt at a time, and the next only when that one is over', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    const formed = await batches.form(forming(batch, target));
    expect(await batches.start(batch, aStart(1, NOW, NOW + 100))).toBe(false);
    await batches.seal(formed, [], NOW, 1_000);
    const rivals = await Promise.all([1, 2, 3].map(() => batches.start(batch, aStart(1, NOW, NOW + 100))));
    expect(rivals.filter((started) => started)).toHaveLength(1);
    expect(await batches.start(batch, aStart(2, NOW + 100, NOW + 200))).toBe(false);
    expect(await batches.start(batch, aStart(2, NOW + 101, NOW + 200))).toBe(true);
    expect(await batches.get(batch)).toMatchObject({
      status: 'in-progress',
      attempt: 2,
      startedBy: 'starter-2',
      runUntil: NOW + 200,
      startedAt: NOW,
    });
  });

  it('is postponed and finished by its current attempt alone', async () => {
    const { batch, target } = fresh();
    const { batches } = stores();
    await sealed(batch, target);
    await batches.start(batch, aStart(1, NOW, NOW + 100));
    expect(await batches.postpone(batch, 1, NOW + 50)).toBe(true);
    expect(await batches.start(batch, aStart(2, NOW + 51, NOW + 500))).toBe(true);
    const end = { status: 'partly-failed' as const, counts: { succeeded: 1, failed: 1 }, at: NOW + 60, keep: 1_000 };
    expect(await batches.postpone(batch, 1, NOW)).toBe(false);
    expect(await batches.finish(batch, 1, end)).toBe(false);
    expect(await batches.finish(batch, 2, end)).toBe(true);
    expect(await batches.finish(batch, 2, end)).toBe(false);
    expect(await batches.start(batch, aStart(3, NOW + 10_000, NOW + 20_000))).toBe(false);
    expect(await batches.get(batch)).toMatchObject({
      status: 'partly-failed',
      counts: { succeeded: 1, failed: 1 },
      finishedAt: NOW + 60,
    });
  });

  it('is found by its Target once sealed, newest first', async () => {
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
