/** Calls that name one row twice, which DynamoDB itself refuses. Every store must give the same answer. */
import { expect, it } from 'vitest';
import { waitingRow } from '../../src/domain/batches/policy.ts';
import { type FanOutId, fanOutId } from '../../src/domain/fan-out-ids.ts';
import { type ListId, listId, trackerOf } from '../../src/domain/lists/ids.ts';
import type { InputKey } from '../../src/domain/merging/inputs.ts';
import type { Settlement, Task } from '../../src/domain/tasks/task.ts';
import type { JobResult } from '../../src/ports/lists.ts';
import { aTask, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const HOUR = 3_600_000;
const LARGE = `{"s":"${'x'.repeat(2_000)}"}`;
const error = { code: 'expired', message: 'no batch had it in time', retriable: true };
const EXPIRED: Settlement = { status: 'failed', error };
const END = { at: NOW + 7, keep: HOUR };
const finishing = (target: Task['target'], id: string) => ({
  id: id as never,
  target,
  attempts: 1,
  at: NOW,
  keep: HOUR,
});

describeEach('a row named twice in one call', storeKinds, (stores) => {
  const tasks = () => stores().tasks;

  it('is inserted once; the first stands', async () => {
    const { t } = fresh();
    const [one, other] = [aTask({ id: t(1) }), aTask({ id: t(1), payload: '{"depot":"FRA"}' })];
    const [first, second, third] = await tasks().insert([one, other, aTask({ id: t(2) })]);
    expect([first?.isNew, second?.isNew, third?.isNew]).toEqual([true, false, true]);
    expect([second?.stored, await tasks().get(t(1))]).toEqual([first?.stored, first?.stored]);
    expect(first?.stored.payloadHash).toBe(one.payloadHash);
  });

  it('has the payload of the later task of its id', async () => {
    const { t } = fresh();
    const task = { ...aTask({ id: t(1), payload: LARGE }), run: 1 };
    await tasks().insert([task]);
    await tasks().storePayloads([task, { ...task, createdAt: NOW + 5 }, task]);
    await tasks().settle([{ task: { ...task, run: 1 }, as: EXPIRED }], END);
    expect((await tasks().payload(t(1))) === LARGE).toBe(true);
    // A call with the first task's time finds the row of the second.
    expect(await stores().payloadExpires(task)).toBe(true);
    await tasks().storePayloads([{ ...task, createdAt: NOW + 5 }]);
    expect(await stores().payloadExpires(task)).toBe(true);
    await tasks().storePayloads([{ ...task, createdAt: NOW + 6 }]);
    expect(await stores().payloadExpires(task)).toBe(false);
  });

  it('is claimed only in its current run', async () => {
    const { t, batch } = fresh();
    await tasks().insert([aTask({ id: t(1) })]);
    expect(
      await tasks().claim([candidate(t(1), 2), candidate(t(1)), candidate(t(1)), candidate(t(1), 3)], batch),
    ).toEqual([false, true, true, false]);
  });

  it('ends with the first settlement of its current run', async () => {
    const { t, target } = fresh();
    const { stored } = (await tasks().insert([aTask({ id: t(1), target, payload: LARGE })]))[0] as { stored: Task };
    await tasks().storePayloads([{ ...aTask({ id: t(1), target, payload: LARGE }), run: 1 }]);
    await tasks().settle([{ task: stored, as: EXPIRED }], END);
    const [again] = await tasks().redrive([(await tasks().get(t(1))) as Task], NOW + 9);
    // The settlement of the first run is late. In the second run, a newer task supersedes the task.
    const superseded: Settlement = { status: 'succeeded', supersededBy: t(2) };
    const settlements = [
      { task: stored, as: EXPIRED },
      { task: again?.stored as Task, as: superseded },
      { task: again?.stored as Task, as: EXPIRED },
    ];
    const answers = await tasks().settle(settlements, END);
    expect(answers.map((each) => [each?.isNew, each?.stored.state.status, each?.stored.run])).toEqual([
      [false, 'succeeded', 2],
      [true, 'succeeded', 2],
      [false, 'succeeded', 2],
    ]);
    expect(await stores().payloadExpires(stored)).toBe(true);
  });

  it('ends with its first result', async () => {
    const { t, target, batch } = fresh();
    await tasks().insert([aTask({ id: t(1), target, payload: LARGE })]);
    const task = { ...aTask({ id: t(1), target, payload: LARGE }), run: 1 };
    await tasks().storePayloads([task]);
    await tasks().claim([candidate(t(1))], batch);
    const payloadRow = { payloadHash: task.payloadHash, run: 1 };
    const done = { id: t(1), outcome: { status: 'succeeded' }, payloadRow } as const;
    const bad = { id: t(1), outcome: { status: 'failed', error }, payloadRow } as const;
    expect(await tasks().finish([done, bad, done], finishing(target, batch))).toEqual([
      'succeeded',
      'succeeded',
      'succeeded',
    ]);
    expect((await tasks().get(t(1)))?.state.status).toBe('succeeded');
    expect(await stores().payloadExpires(task)).toBe(true);
  });

  it('is redriven once', async () => {
    const { t, target } = fresh();
    await tasks().insert([aTask({ id: t(1), target })]);
    await tasks().settle([{ task: { id: t(1), run: 1, target }, as: EXPIRED }], END);
    const failed = (await tasks().get(t(1))) as Task;
    const answers = await tasks().redrive([failed, failed], NOW + 9);
    expect(answers.map((each) => each?.stored.run)).toEqual([2, 2]);
    expect((await tasks().get(t(1)))?.run).toBe(2);
  });

  it('is read as often as it is named', async () => {
    const { t, target, batch } = fresh();
    await tasks().insert([aTask({ id: t(1), target, payload: LARGE })]);
    await tasks().storePayloads([{ ...aTask({ id: t(1), target, payload: LARGE }), run: 1 }]);
    await tasks().claim([candidate(t(1))], batch);
    const twice = [t(1), t(1)];
    expect((await tasks().all(twice)).map(({ id }) => id)).toEqual(twice);
    expect((await tasks().outlines(twice)).map((each) => each?.id)).toEqual(twice);
    expect((await tasks().members(twice, batch)).open.map(({ id }) => id)).toEqual(twice);
    expect((await tasks().readEventually(twice, batch)).map(({ id }) => id)).toEqual(twice);
  });

  it('is put once, as the last entry says, and removed once', async () => {
    const { t, target } = fresh();
    const { payload: _, ...task } = aTask({ id: t(1), target });
    const put = (weight: number) => ({ ...task, run: 1, weight });
    await stores().waiting.put([put(1), put(2), put(3)]);
    const [row, ...more] = await stores().waiting.first(target, 9);
    expect([row?.weight, more]).toEqual([3, []]);
    const { entry } = waitingRow(put(3));
    await stores().waiting.remove(target, [entry, entry]);
    expect(await stores().waiting.first(target, 9)).toEqual([]);
  });

  it('that is a lock is created once, and read twice', async () => {
    const { target } = fresh();
    await stores().locks.enlist([target, target], NOW);
    const [first, second] = await stores().locks.readAll([target, target]);
    expect(first).toMatchObject({ lock: { fence: 0 } });
    expect(second).toEqual(first);
    await stores().locks.dropPages(target, [1, 1]);
  });

  it('that is an input keeps its last marks', async () => {
    const { target } = fresh();
    const key = 'order-1' as InputKey;
    const known = (text: string) => ({ marks: [text] });
    await stores().processed.remember(
      target,
      ['a', 'b', 'c'].map((text) => ({ key, ...known(text) })),
      NOW,
      HOUR,
    );
    expect(await stores().processed.known(target, [key, key], NOW)).toEqual(new Map([[key, known('c')]]));
  });

  it('that is a group keeps its first size', async () => {
    const id = fanOutId(`f-${fresh().t(1)}`) as FanOutId;
    const fanOuts = stores().fanOuts;
    await fanOuts.open({ id, createdAt: NOW }, NOW);
    await fanOuts.putGroups(
      id,
      [
        { n: 0, size: 3 },
        { n: 0, size: 7 },
      ],
      NOW,
    ); // prettier-ignore
    const position = { level: 0, n: 0 };
    expect((await fanOuts.node(id, position))?.slots).toHaveLength(3);
    const [first, second] = await fanOuts.counts(id, [position, position]);
    expect([first, second]).toEqual([expect.anything(), first]);
    await fanOuts.removeNodes(id, [position, position]);
    expect(await fanOuts.node(id, position)).toBeUndefined();
  });

  it("that is a job's result keeps the first one", async () => {
    const id = listId(`l-${fresh().t(1)}`) as ListId;
    await stores().lists.open({ id: trackerOf(id), createdAt: NOW }, NOW);
    const result = (value: string): JobResult => ({ token: 0, outcome: 'succeeded', result: value }) as JobResult;
    const stored = await stores().lists.putResults(id, [result('1'), result('2')]);
    expect(stored).toEqual([result('1'), result('1')]);
  });
});
