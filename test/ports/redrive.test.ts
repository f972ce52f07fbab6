import { expect, it } from 'vitest';
import type { BatchId, TaskId } from '../../src/domain/ids.ts';
import { PAYLOAD_MAX_BYTES, type PayloadRow, type Task, type TaskResult } from '../../src/domain/tasks/task.ts';
import type { FinishingBatch } from '../../src/ports/tasks.ts';
import { aTask, batchId, candidate, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

describeEach('redriven tasks', storeKinds, (stores) => {
  const error = { code: 'bad', message: 'no such depot', retriable: false };
  const finishing = (batch: BatchId, target: FinishingBatch['target'], at = NOW): FinishingBatch => ({
    id: batch,
    target,
    attempts: 2,
    at,
    keep: 3_600_000,
  });
  const failed = (id: TaskId, payloadRow?: PayloadRow): TaskResult => ({
    id,
    outcome: { status: 'failed', error },
    ...(payloadRow ? { payloadRow } : {}),
  });
  /** The tasks as a reader of their first run knows them. */
  const inRun = async (run: number, ...ids: readonly TaskId[]): Promise<Task[]> => {
    const read = await Promise.all(ids.map((id) => stores().tasks.get(id)));
    return ids.map((id, index) => ({ ...(read[index] ?? ({ id, payloadApart: true } as Task)), run }));
  };
  const redrive = async (run: number, ...ids: readonly TaskId[]) =>
    stores().tasks.redrive(await inRun(run, ...ids), NOW + 5);

  it('wait in their next run, without traces of the last one', async () => {
    const { t, batch, target } = fresh();
    const [inserted] = await stores().tasks.insert([aTask({ id: t(1), target, correlationId: 'c-1', startBy: NOW })]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    const [redriven] = await redrive(1, t(1));
    // `startBy` belongs to the first run.
    const { startBy: _, ...rest } = inserted?.stored ?? {};
    const stored = { ...rest, run: 2, redrivenAt: NOW + 5, state: { status: 'created' } };
    expect(redriven).toEqual({ isNew: true, stored });
    expect(await stores().tasks.get(t(1))).toEqual(stored);
    expect((await stores().tasks.failed(target, 9)).items).toEqual([]);
  });

  it('are those that failed in the named run, once each', async () => {
    const { t, batch, target } = fresh();
    const ids = [t(1), t(2), t(3)];
    await stores().tasks.insert(ids.map((id) => aTask({ id, target })));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    await stores().tasks.finish(
      [failed(t(1)), { id: t(2), outcome: { status: 'succeeded' } }],
      finishing(batch, target),
    );
    for (const [run, at] of [
      [2, NOW + 4],
      [1, NOW + 5],
      [1, NOW + 6],
      // The client repeats the second request, whose answer was lost.
      [1, NOW + 5],
    ] as const) {
      const answer = await stores().tasks.redrive(await inRun(run, ...ids, t(9)), at);
      expect(answer.map((each) => each && [each.isNew, each.stored.run, each.stored.state.status])).toEqual([
        run === 2 ? [false, 1, 'failed'] : [at === NOW + 5, 2, 'created'],
        [false, 1, 'succeeded'],
        [false, 1, 'created'],
        undefined,
      ]);
    }
  });

  it('that failed again are not redriven for an earlier run', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), target })]);
    for (const run of [1, 2]) {
      const own = batchId(`${batch}-${run}`);
      await stores().tasks.claim([candidate(t(1), run)], own);
      await stores().tasks.finish([failed(t(1))], finishing(own, target));
      if (run === 1) await redrive(1, t(1));
    }
    const [again] = await stores().tasks.redrive(await inRun(1, t(1)), NOW + 9);
    expect(again).toMatchObject({ isNew: false, stored: { run: 2, state: { status: 'failed' } } });
  });

  it('are claimed in their new run only, by one batch', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), target })]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    await redrive(1, t(1));
    expect(await stores().tasks.claim([candidate(t(1), 1)], batch)).toEqual([false]);
    const next = batchId(`${batch}-next`);
    expect(await stores().tasks.claim([candidate(t(1), 2)], next)).toEqual([true]);
    expect(await stores().tasks.claim([candidate(t(1), 2)], batch)).toEqual([false]);
  });

  it('count as failed in their earlier batch, and take no result from it', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([t(1), t(2)].map((id) => aTask({ id, target })));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    await redrive(1, t(1));
    const members = await stores().tasks.members([t(1), t(2), t(9)], batch);
    expect([members.open.map(({ id }) => id), members.ended, members.counts]).toEqual([
      [t(2)],
      [],
      { succeeded: 0, failed: 1 },
    ]);
    const late = await stores().tasks.finish(
      [{ id: t(1), outcome: { status: 'succeeded' } }],
      finishing(batch, target),
    );
    expect(late).toEqual(['failed']);
    expect((await stores().tasks.get(t(1)))?.state).toEqual({ status: 'created' });
  });

  it('keep their payload if a write of another run comes late', async () => {
    const { t, batch, target } = fresh();
    const next = batchId(`${batch}-next`);
    const task = aTask({ id: t(1), target, payload: `{"s":"${'x'.repeat(2_000)}"}` });
    const { payloadHash } = task;
    const ends = (run: number, into: BatchId) =>
      stores().tasks.finish([failed(t(1), { payloadHash, run })], finishing(into, target));
    const expires = () => stores().payloadExpires(task);
    await stores().tasks.insert([task]);
    await stores().tasks.storePayloads([{ ...task, run: 1 }]);
    await stores().tasks.claim([candidate(t(1))], batch);
    expect(await expires()).toBe(false);
    await ends(1, batch);
    expect(await expires()).toBe(true);
    await redrive(1, t(1));
    expect(await expires()).toBe(false);
    await ends(1, batch);
    expect(await expires()).toBe(false);
    await stores().tasks.claim([candidate(t(1), 2)], next);
    // As if a register function had stalled since before its task was claimed, and a batch handler of the first run
    // between the end of the task and that of its payload.
    await stores().tasks.storePayloads([{ ...task, run: 1 }]);
    await ends(1, next);
    expect(await expires()).toBe(false);
    await ends(2, next);
    expect(await expires()).toBe(true);
    await redrive(1, t(1));
    expect(await expires()).toBe(true);
  });

  it('keep a payload of any size', async () => {
    const { t, batch, target } = fresh();
    const task = aTask({ id: t(1), target, payload: `{"s":"${'x'.repeat(PAYLOAD_MAX_BYTES - 20)}"}` });
    await stores().tasks.insert([task]);
    await stores().tasks.storePayloads([{ ...task, run: 1 }]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1), { payloadHash: task.payloadHash, run: 1 })], finishing(batch, target));
    await redrive(1, t(1));
    const next = batchId(`${batch}-next`);
    await stores().tasks.claim([candidate(t(1), 2)], next);
    const { open } = await stores().tasks.members([t(1)], next);
    expect(open.map(({ payload }) => payload === task.payload)).toEqual([true]);
  });
});
