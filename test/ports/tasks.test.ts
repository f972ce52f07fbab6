import { expect, it } from 'vitest';
import { type BatchId, type OperationName, operationOf, type Target, type TaskId } from '../../src/domain/ids.ts';
import type { Page } from '../../src/domain/page.ts';
import { type NewTask, PAYLOAD_MAX_BYTES, type Task } from '../../src/domain/tasks/task.ts';
import type { FailedTask, FinishingBatch } from '../../src/ports/tasks.ts';
import { anItem, aTask, batchId, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const finishing = (batch: BatchId, target: Target, fields: Partial<FinishingBatch> = {}): FinishingBatch => ({
  id: batch,
  target,
  attempts: 1,
  at: NOW,
  keep: 3_600_000,
  ...fields,
});

describeEach('tasks', storeKinds, (stores) => {
  it('are inserted once; a second insert returns the first task', async () => {
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

  it('are outlined many at a time, in the order asked', async () => {
    const { t, batch } = fresh();
    await stores().tasks.insert([1, 2].map((n) => aTask({ id: t(n) })));
    const asked = [t(2), ...Array.from({ length: 120 }, (_, n) => t(n + 10)), t(1)];
    const read = await stores().tasks.outlines(asked);
    expect([read.length, read.at(0)?.id, read.at(-1)?.id]).toEqual([122, t(2), t(1)]);
    expect(read.slice(1, -1).every((task) => task === undefined)).toBe(true);
    expect(read.at(0)).toEqual({ id: t(2), run: 1, operation: 'ship', status: 'created' });
    await stores().tasks.claim([candidate(t(1))], batch);
    expect((await stores().tasks.outlines([t(1)])).at(0)).toMatchObject({ status: 'batched', batchId: batch });
    expect(await stores().tasks.outlines([])).toEqual([]);
  });

  it('are inserted in more than one request', async () => {
    const { t } = fresh();
    const all = Array.from({ length: 137 }, (_, n) => aTask({ id: t(n) }));
    await stores().tasks.insert(all.filter((_, n) => n % 3 === 0));
    const answers = await stores().tasks.insert(all);
    expect(answers.map(({ isNew }) => isNew)).toEqual(all.map((_, n) => n % 3 !== 0));
  });

  const LARGE = `{"s":"${'ü'.repeat(PAYLOAD_MAX_BYTES / 2 - 10)}"}`;
  /** Registers as the register function does: a payload that the stored row does not hold gets a row of its own. */
  const stored = async (...tasks: NewTask[]): Promise<void> => {
    const inserted = await stores().tasks.insert(tasks);
    await stores().tasks.storePayloads(
      tasks.filter((_, index) => inserted[index]?.stored.payloadApart).map((task) => ({ ...task, run: 1 })),
    );
  };

  it('keep their payload exactly, small or large', async () => {
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

  it('have their payload apart if their stored row says so', async () => {
    const { t } = fresh();
    // Small enough for the row, but not with the correlation id of the first message.
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

  it('without a stored payload are reported as lost, beside the others', async () => {
    const { t, batch } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), payload: LARGE })]);
    await stored(aTask({ id: t(2) }));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    const { open, lost } = await stores().tasks.members([t(1), t(2)], batch);
    const age = { id: t(1), sentAt: NOW };
    expect([open.map((each) => each.id), lost]).toEqual([[t(2)], [{ id: t(1), age }]]);
  });

  it('keep their own payload if their id had another one before', async () => {
    const { t } = fresh();
    const monday = aTask({ id: t(1), payload: LARGE });
    const tuesday = aTask({ id: t(1), payload: LARGE.replace('ü', 'ö') });
    // Monday's task has expired, but its payload row has not.
    await stores().tasks.storePayloads([{ ...monday, run: 1 }]);
    await stored(tuesday);
    expect((await stores().tasks.payload(t(1))) === tuesday.payload).toBe(true);
  });

  it('keep a payload for their own time if an earlier task had it', async () => {
    const { t, batch, target } = fresh();
    const earlier = aTask({ id: t(1), target, payload: LARGE });
    const task = { ...earlier, createdAt: earlier.createdAt + 3_600_001 };
    await stored(earlier);
    await stores().tasks.claim([candidate(t(1))], batch);
    const { payloadHash } = earlier;
    const ends = { id: batch, target, attempts: 1, at: NOW, keep: 3_600_000 };
    const result = { id: t(1), outcome: { status: 'succeeded' }, payloadRow: { payloadHash, run: 1 } } as const;
    await stores().tasks.finish([result], ends);
    expect(await stores().payloadExpires(earlier)).toBe(true);
    await stores().tasks.storePayloads([{ ...earlier, run: 1 }]);
    expect(await stores().payloadExpires(earlier)).toBe(true);
    // A later task of the same id and payload.
    await stores().tasks.storePayloads([{ ...task, run: 1 }]);
    expect(await stores().payloadExpires(task)).toBe(false);
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

  it('that two batches claim at once belong to one of them', async () => {
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

  it('finish once; the first result stands', async () => {
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
    expect(members).toEqual({
      open: [],
      lost: [],
      ended: [
        { id: t(1), age: { id: t(1), sentAt: NOW }, status: 'succeeded' },
        { id: t(2), age: { id: t(2), sentAt: NOW }, status: 'failed' },
        { id: t(3), age: { id: t(3), sentAt: NOW }, status: 'succeeded' },
      ],
      counts: { succeeded: 2, failed: 1 },
    });
  });

  it('that failed are listed for their Target, newest first, page by page', async () => {
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

  it('that failed are listed across Targets, each once, if not redriven', async () => {
    const { tasks } = stores();
    const [first, second] = [fresh(), fresh()];
    const failed: TaskId[] = [];
    for (const { t, batch, target } of [first, second]) {
      const ids = [t(1), t(2), t(3)];
      failed.push(...ids);
      await tasks.insert(ids.map((each) => aTask({ id: each, target, operation: operationOf(target) })));
      await tasks.claim(
        ids.map((each) => candidate(each)),
        batch,
      );
      const error = { code: 'bad', message: `it is ${target}`, retriable: true };
      const outcome = { status: 'failed', error } as const;
      await tasks.finish(
        ids.map((each) => ({ id: each, outcome })),
        finishing(batch, target),
      );
    }
    const again = (await tasks.get(first.t(1))) as Task;
    await tasks.redrive([again], NOW);
    const found: FailedTask[] = [];
    const anywhere: TaskId[] = [];
    let [looked, cursor]: [number, string | undefined] = [0, undefined];
    do {
      const page = await tasks.failures(operationOf(first.target), 2, cursor);
      found.push(...page.items.filter(({ id }) => failed.includes(id)));
      looked += page.looked;
      cursor = page.cursor;
    } while (cursor !== undefined);
    do {
      const page: Page<TaskId> = await tasks.failedAnywhere(2, cursor);
      anywhere.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const left = failed.filter((each) => each !== again.id);
    expect(anywhere.filter((each) => failed.includes(each)).toSorted()).toEqual(left.toSorted());
    expect(found.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
    expect(looked).toBe(anywhere.length);
    expect(found.find(({ id }) => id === second.t(1))).toEqual({
      id: second.t(1),
      operation: operationOf(second.target),
      target: second.target,
      error: { code: 'bad', message: `it is ${second.target}`, retriable: true },
    });
    expect((await tasks.failures('none-such' as OperationName, 1_000)).items).toEqual([]);
  });

  it('belong to a batch only if their row names it', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), target })]);
    expect(await stores().tasks.members([t(1)], batch)).toEqual({
      open: [],
      lost: [],
      ended: [],
      counts: { succeeded: 0, failed: 0 },
    });
  });

  it('are loaded as open, lost, redriven or of another batch', async () => {
    const { t, batch, target } = fresh();
    const other = `${batch}-other` as BatchId;
    await stored(aTask({ id: t(1), target }), aTask({ id: t(2), target, payload: LARGE }), aTask({ id: t(3), target }));
    await stores().tasks.insert([aTask({ id: t(4), target, payload: LARGE }), aTask({ id: t(5), target })]);
    await stores().tasks.claim([candidate(t(3))], other);
    const error = { code: 'bad', message: 'm', retriable: false };
    await stores().tasks.finish([{ id: t(3), outcome: { status: 'failed', error } }], finishing(other, target));
    await stores().tasks.redrive([(await stores().tasks.get(t(3))) as Task], NOW);
    await stores().tasks.claim([candidate(t(1)), candidate(t(2)), candidate(t(3), 2), candidate(t(4))], batch);
    const ids = [t(4), t(3), t(2), t(1), t(5), t(6)];
    const members = await stores().tasks.members(ids, batch);
    expect(members.open.map(({ id, payload }) => [id, payload.length])).toEqual([
      [t(3), expect.any(Number)],
      [t(2), LARGE.length],
      [t(1), expect.any(Number)],
    ]);
    expect([members.lost, members.ended, members.counts]).toEqual([
      [{ id: t(4), age: { id: t(4), sentAt: NOW } }],
      [],
      { succeeded: 0, failed: 0 },
    ]);
    // With no write pending, an eventually consistent read returns the same.
    expect(await stores().tasks.readEventually(ids, batch)).toEqual(members.open);
    const left = await stores().tasks.members([t(3)], other);
    expect([left.open, left.counts]).toEqual([[], { succeeded: 0, failed: 1 }]);
    expect(await stores().tasks.readEventually([t(3)], other)).toEqual([]);
  });

  it('of a batch have their age, in any run', async () => {
    const { t, batch, target } = fresh();
    const fields = [{}, { sentAt: NOW - 5 }, { sentAt: NOW - 5, version: 3 }];
    await stored(...fields.map((each, n) => aTask({ id: t(n), target, ...each })));
    await stores().tasks.claim([candidate(t(0)), candidate(t(1)), candidate(t(2))], 'other' as BatchId);
    const failed = { outcome: { status: 'failed' as const, error: { code: 'bad', message: 'm', retriable: false } } };
    await stores().tasks.finish([{ id: t(1), ...failed }], finishing('other' as BatchId, target));
    await stores().tasks.redrive([(await stores().tasks.get(t(1))) as Task], NOW + 99);
    await stores().tasks.claim([candidate(t(1), 2)], batch);
    const members = [
      ...(await stores().tasks.members([t(1)], batch)).open,
      ...(await stores().tasks.members([t(0), t(2)], 'other' as BatchId)).open,
    ];
    expect(members.map(({ age }) => age)).toEqual([
      { id: t(1), sentAt: NOW - 5 },
      { id: t(0), sentAt: NOW },
      { id: t(2), sentAt: NOW - 5, version: 3 },
    ]);
  });

  it('of a batch have their callback and fan-out item, open or ended', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert(
      [1, 2, 3].map((n) =>
        aTask({ id: t(n), target, ...(n < 3 ? { callback: 'ops', fanOutItem: anItem(`f:0:${n}`) } : {}) }),
      ),
    );
    await stores().tasks.claim(
      [1, 2, 3].map((n) => candidate(t(n))),
      batch,
    );
    await stores().tasks.finish([{ id: t(1), outcome: { status: 'succeeded' } }], {
      id: batch,
      target,
      attempts: 1,
      at: NOW,
      keep: 1_000,
    });
    const { open, ended } = await stores().tasks.members([t(1), t(2), t(3)], batch);
    expect(ended).toEqual([
      { id: t(1), age: { id: t(1), sentAt: NOW }, status: 'succeeded', callback: 'ops', fanOutItem: 'f:0:1' },
    ]);
    expect(open.map(({ id, callback, fanOutItem }) => [id, callback, fanOutItem])).toEqual([
      [t(2), 'ops', 'f:0:2'],
      [t(3), undefined, undefined],
    ]);
  });
});
