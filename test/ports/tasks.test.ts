/** Tasks: inserted, claimed, finished, and listed if they failed. */
import { expect, it } from 'vitest';
import { type OperationName, operationOf, type TaskId } from '../../src/domain/ids.ts';
import type { Page } from '../../src/domain/page.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import type { FailedTask } from '../../src/ports/tasks.ts';
import { aTask, batchId, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';
import { finishing } from './task-kit.ts';

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
});
