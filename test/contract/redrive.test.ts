import { expect, it } from 'vitest';
import type { BatchId, TaskId } from '../../src/batching/ids.ts';
import { PAYLOAD_MAX_BYTES, type TaskResult } from '../../src/batching/task.ts';
import type { FinishingBatch } from '../../src/ports.ts';
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
  const failed = (id: TaskId, payloadHash?: string): TaskResult => ({
    id,
    outcome: { status: 'failed', error },
    ...(payloadHash === undefined ? {} : { payloadHash }),
  });

  it('wait again in their next run, and leave nothing of the last behind', async () => {
    const { t, batch, target } = fresh();
    const [inserted] = await stores().tasks.insert([aTask({ id: t(1), target, correlationId: 'c-1' })]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    const [redriven] = await stores().tasks.redrive([{ id: t(1), run: 1 }], NOW + 5);
    expect(redriven).toEqual({ ...inserted?.stored, run: 2, redrivenAt: NOW + 5, state: { status: 'created' } });
    expect(await stores().tasks.get(t(1))).toEqual(redriven);
    expect((await stores().tasks.failed(target, 9)).items).toEqual([]);
  });

  it('are only those that failed in the run named, however often that is asked for', async () => {
    const { t, batch, target } = fresh();
    const ids = [t(1), t(2), t(3)];
    await stores().tasks.insert(ids.map((id) => aTask({ id, target })));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    await stores().tasks.finish(
      [failed(t(1)), { id: t(2), outcome: { status: 'succeeded' } }],
      finishing(batch, target),
    );
    const ask = (run: number) =>
      stores().tasks.redrive(
        [...ids, t(9)].map((id) => ({ id, run })),
        NOW + 5,
      );
    for (const run of [2, 1, 1]) {
      const answer = await ask(run);
      expect(answer.map((task) => task && [task.run, task.state.status])).toEqual([
        run === 2 ? [1, 'failed'] : [2, 'created'],
        [1, 'succeeded'],
        [1, 'created'],
        undefined,
      ]);
    }
  });

  it('cannot be claimed in their old run, and are claimed in the new one by one batch', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([aTask({ id: t(1), target })]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    await stores().tasks.redrive([{ id: t(1), run: 1 }], NOW);
    expect(await stores().tasks.claim([candidate(t(1), 1)], batch)).toEqual([false]);
    const next = batchId(`${batch}-next`);
    expect(await stores().tasks.claim([candidate(t(1), 2)], next)).toEqual([true]);
    expect(await stores().tasks.claim([candidate(t(1), 2)], batch)).toEqual([false]);
  });

  it('count as failed in the batch that they left, and get nothing from it any more', async () => {
    const { t, batch, target } = fresh();
    await stores().tasks.insert([t(1), t(2)].map((id) => aTask({ id, target })));
    await stores().tasks.claim([candidate(t(1)), candidate(t(2))], batch);
    await stores().tasks.finish([failed(t(1))], finishing(batch, target));
    await stores().tasks.redrive([{ id: t(1), run: 1 }], NOW);
    const members = await stores().tasks.members([t(1), t(2), t(9)], batch);
    expect([members.open.map(({ id }) => id), members.counts]).toEqual([[t(2)], { succeeded: 0, failed: 1 }]);
    const late = await stores().tasks.finish(
      [{ id: t(1), outcome: { status: 'succeeded' } }],
      finishing(batch, target),
    );
    expect(late).toEqual(['failed']);
    expect((await stores().tasks.get(t(1)))?.state).toEqual({ status: 'created' });
  });

  it('bring a payload of any size along', async () => {
    const { t, batch, target } = fresh();
    const task = aTask({ id: t(1), target, payload: `{"s":"${'x'.repeat(PAYLOAD_MAX_BYTES - 20)}"}` });
    await stores().tasks.insert([task]);
    await stores().tasks.storePayloads([task]);
    await stores().tasks.claim([candidate(t(1))], batch);
    await stores().tasks.finish([failed(t(1), task.payloadHash)], finishing(batch, target));
    await stores().tasks.redrive([{ id: t(1), run: 1 }], NOW);
    const next = batchId(`${batch}-next`);
    await stores().tasks.claim([candidate(t(1), 2)], next);
    const { open } = await stores().tasks.members([t(1)], next);
    expect(open.map(({ payload }) => payload === task.payload)).toEqual([true]);
  });
});
