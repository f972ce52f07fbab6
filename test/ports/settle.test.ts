import { expect, it } from 'vitest';
import { waitingRow } from '../../src/domain/batches/policy.ts';
import type { NewTask, Settlement, Task } from '../../src/domain/tasks/task.ts';
import { anItem, aTask, candidate, id, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const error = { code: 'expired', message: 'no batch had it in time', retriable: true };
const expired: Settlement = { status: 'failed', error };
const END = { at: NOW + 7, keep: 3_600_000 };
const LARGE = `{"s":"${'x'.repeat(2_000)}"}`;
/** Every optional field of a task, with a value other than its default. */
const WISHES = {
  priority: 9,
  ahead: 9_000,
  weight: 0.25,
  coalesceKey: 'key',
  version: 3,
  sentAt: NOW - 5,
  startBy: NOW + 60_000,
  callback: 'ops',
  fanOutItem: anItem('f:0:1'),
};

describeEach('tasks that are settled', storeKinds, (stores) => {
  const settle = (tasks: readonly Pick<Task, 'id' | 'run' | 'target'>[], as: Settlement = expired, end = END) =>
    stores().tasks.settle(
      tasks.map((task) => ({ task, as })),
      end,
    );
  /** Registers tasks as the register function does. */
  const registered = async (...tasks: readonly NewTask[]): Promise<Task[]> => {
    const stored = (await stores().tasks.insert(tasks)).map((each) => each.stored);
    const apart = tasks.filter((_, index) => stored[index]?.payloadApart);
    await stores().tasks.storePayloads(apart.map((task) => ({ ...task, run: 1 })));
    return stored;
  };

  it('keep all optional fields of the task exactly, or have none', async () => {
    const { t, target } = fresh();
    const [wished, plain] = await registered(aTask({ id: t(1), target, ...WISHES }), aTask({ id: t(2), target }));
    expect(wished).toMatchObject(WISHES);
    expect(await stores().tasks.get(t(1))).toEqual(wished);
    expect(Object.keys(WISHES).filter((name) => Object.hasOwn(plain as Task, name))).toEqual([]);
    const none = {
      priority: 1,
      ahead: 0,
      weight: 1e9,
      coalesceKey: '\u{1f600}\n',
      version: Number.MAX_SAFE_INTEGER,
      startBy: 1,
      callback: 'x',
      fanOutItem: anItem(`${'f'.repeat(64)}:999999999:449`),
    };
    await registered(aTask({ id: t(3), target, ...none }));
    expect(await stores().tasks.get(t(3))).toMatchObject(none);
  });

  it('wait in the same row, whichever read it is made from', async () => {
    const { t, target } = fresh();
    const sent = aTask({ id: t(1), target, ...WISHES });
    const [stored] = await registered(sent);
    const [again] = await stores().tasks.insert([aTask({ id: t(1), target, createdAt: NOW + 99, weight: 7 })]);
    const rows = [stored, again?.stored, await stores().tasks.get(t(1))].map((task) => waitingRow(task as Task));
    const row = {
      entry: `${NOW - 9_000}#${t(1)}#1`,
      candidate: candidate(t(1)),
      at: NOW,
      bytes: sent.bytes,
      weight: 0.25,
      key: 'key',
      age: { id: t(1), sentAt: NOW - 5, version: 3 },
      startBy: NOW + 60_000,
    };
    expect(rows).toEqual([row, row, row]);
    await stores().waiting.put([{ ...(stored as Task), target }]);
    expect(await stores().waiting.first(target, 2)).toEqual([row]);
  });

  it('are read many at a time, in the order asked, if stored', async () => {
    const { t, target } = fresh();
    const ids = Array.from({ length: 120 }, (_, n) => t(n));
    await registered(...ids.map((each) => aTask({ id: each, target })));
    const asked = [t(119), id('nowhere'), ...ids.slice(1, 119).toReversed(), t(0)];
    const read = await stores().tasks.all(asked);
    expect(read.map((task) => task.id)).toEqual(asked.filter((each) => each !== 'nowhere'));
    expect(read[0]).toEqual(await stores().tasks.get(t(119)));
    expect(await stores().tasks.all([])).toEqual([]);
  });

  it('end once; the first settlement stands', async () => {
    const { t, target } = fresh();
    const [task] = (await registered(aTask({ id: t(1), target, ...WISHES }))) as [Task];
    const ended = { ...task, state: { ...expired, attempts: 0, finishedAt: END.at } };
    expect(await settle([task])).toEqual([{ isNew: true, stored: ended }]);
    expect(await settle([task], expired, { ...END, at: END.at + 1 })).toEqual([{ isNew: false, stored: ended }]);
    const other: Settlement = { status: 'succeeded', supersededBy: t(2) };
    expect(await settle([task], other)).toEqual([{ isNew: false, stored: ended }]);
    expect(await stores().tasks.get(t(1))).toEqual(ended);
    expect(await stores().tasks.claim([candidate(t(1))], fresh().batch)).toEqual([false]);
  });

  it('are only waiting ones, in the run that was read', async () => {
    const { t, target, batch } = fresh();
    const [claimed, done, waits] = (await registered(...[1, 2, 3].map((n) => aTask({ id: t(n), target })))) as [
      Task,
      Task,
      Task,
    ];
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    await stores().tasks.finish([{ id: t(2), outcome: { status: 'succeeded' } }], {
      id: batch,
      target,
      attempts: 1,
      at: NOW,
      keep: 1,
    });
    const asked = [claimed, { ...waits, run: 2 }, { ...waits, id: t(9) }, done];
    const answers = await settle(asked);
    expect(answers.map((each) => each && [each.isNew, each.stored.state.status])).toEqual([
      [false, 'batched'],
      [false, 'created'],
      undefined,
      [false, 'succeeded'],
    ]);
    expect(await stores().tasks.get(t(1))).toMatchObject({ state: { status: 'batched', batchId: batch } });
    expect(await stores().tasks.get(t(3))).toEqual(waits);
    expect(await stores().tasks.get(t(9))).toBeUndefined();
  });

  it('concurrently with a claim have one of the two', async () => {
    const { t, target, batch } = fresh();
    const tasks = await registered(...Array.from({ length: 60 }, (_, n) => aTask({ id: t(n), target })));
    const [claims, ends] = await Promise.all([
      stores().tasks.claim(
        tasks.map((task) => candidate(task.id)),
        batch,
      ),
      settle(tasks),
    ]);
    for (const [n] of tasks.entries()) expect([claims[n], ends[n]?.isNew].filter(Boolean)).toHaveLength(1);
  });

  it('are listed as failed, or show the task that superseded them', async () => {
    const { t, target } = fresh();
    const tasks = (await registered(...[1, 2].map((n) => aTask({ id: t(n), target })))) as [Task, Task];
    await settle([tasks[0]]);
    await settle([tasks[1]], { status: 'succeeded', supersededBy: t(3) });
    expect((await stores().tasks.failed(target, 9)).items).toEqual([t(1)]);
    expect((await stores().tasks.get(t(2)))?.state).toEqual({
      status: 'succeeded',
      supersededBy: t(3),
      attempts: 0,
      finishedAt: END.at,
    });
  });

  it('let their payload expire, even after a crash in between', async () => {
    const { t, target, batch } = fresh();
    const large = [1, 2, 3].map((n) => aTask({ id: t(n), target, payload: LARGE }));
    const [first, second, claimed] = (await registered(...large)) as [Task, Task, Task];
    expect(await stores().payloadExpires(first)).toBe(false);
    await settle([first]);
    expect(await stores().payloadExpires(first)).toBe(true);
    expect((await stores().tasks.payload(t(1))) === LARGE).toBe(true);
    await settle([second]);
    // As after a crash before that write: the payload's row is as it was.
    await stores().tasks.storePayloads([{ ...(large[1] as NewTask), run: 1, createdAt: NOW + 1 }]);
    expect(await stores().payloadExpires(second)).toBe(false);
    await settle([second]);
    expect(await stores().payloadExpires(second)).toBe(true);
    await stores().tasks.claim([candidate(t(3))], batch);
    await settle([claimed]);
    expect(await stores().payloadExpires(claimed)).toBe(false);
  });

  it('keep payload and fields when redriven, except for `startBy`', async () => {
    const { t, target, batch } = fresh();
    const [task] = (await registered(aTask({ id: t(1), target, payload: LARGE, ...WISHES }))) as [Task];
    const [settled] = await settle([task]);
    const [redriven] = await stores().tasks.redrive([settled?.stored as Task], NOW + 90_000);
    const { startBy: _, ...kept } = task;
    const stored = { ...kept, run: 2, redrivenAt: NOW + 90_000, state: { status: 'created' } };
    expect(redriven).toEqual({ isNew: true, stored });
    expect(await stores().tasks.get(t(1))).toEqual(stored);
    expect(waitingRow(redriven?.stored as Task)).not.toHaveProperty('startBy');
    expect((await stores().tasks.failed(target, 9)).items).toEqual([]);
    expect(await stores().payloadExpires(task)).toBe(false);
    // A caller that read the first run settles nothing.
    expect(await settle([task])).toEqual([{ isNew: false, stored }]);
    expect(await stores().payloadExpires(task)).toBe(false);
    expect(await stores().tasks.claim([candidate(t(1), 2)], batch)).toEqual([true]);
    const { open } = await stores().tasks.members([t(1)], batch);
    expect(open.map(({ payload }) => payload === LARGE)).toEqual([true]);
  });
});
