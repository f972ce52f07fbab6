/** The members of a batch, as the batch handler loads them. */
import { expect, it } from 'vitest';
import type { BatchId } from '../../src/domain/ids.ts';
import type { Task } from '../../src/domain/tasks/task.ts';
import { anItem, aTask, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';
import { finishing, LARGE, storing } from './task-kit.ts';

describeEach('tasks', storeKinds, (stores) => {
  const stored = storing(stores);

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
