/**
 * An id is used again after its first task expired. The rows and messages of the first task (a waiting row, a
 * candidate of a batch, a late result, a redrive message) must not affect the second.
 */
import { expect, it } from 'vitest';
import { waitingRow } from '../../src/domain/batches/policy.ts';
import { eventOf } from '../../src/domain/callbacks/event.ts';
import { candidateOf } from '../../src/domain/ids.ts';
import { firstRun, type NewTask, runNumber, type Task } from '../../src/domain/tasks/task.ts';
import { aTask, batchId, NOW } from '../factories/factories.ts';
import { describeEach } from './describe-each.ts';
import { fresh } from './names.ts';
import { storeKinds } from './stores.ts';

const HOUR = 3_600_000;
const LARGE = `{"s":"${'x'.repeat(2_000)}"}`;
const expired = {
  status: 'failed',
  error: { code: 'expired', message: 'no batch had it in time', retriable: true },
} as const;

describeEach('tasks with a reused id', storeKinds, (stores) => {
  /** The earlier task, of which only rows are left, and the current task of the id. */
  const lives = async (fields: Partial<NewTask> = {}) => {
    const { t, target, batch } = fresh();
    const at = (createdAt: number): NewTask =>
      aTask({ id: t(1), target, ...fields, createdAt, run: firstRun(createdAt) });
    const [earlier, sent] = [at(NOW), at(NOW + HOUR)];
    const [inserted] = await stores().tasks.insert([sent]);
    return { earlier, task: inserted?.stored as Task, sent, target, batch };
  };

  it('wait in a row of their own, and are not settled by the earlier row', async () => {
    const { earlier, task, target } = await lives();
    expect(waitingRow(task).candidate).not.toBe(waitingRow(earlier).candidate);
    const end = { at: NOW + HOUR, keep: HOUR };
    const settled = await stores().tasks.settle([{ task: { ...earlier, target }, as: expired }], end);
    expect(settled).toEqual([{ isNew: false, stored: task }]);
    expect(await stores().tasks.get(task.id)).toEqual(task);
  });

  it('are not claimed by a batch with the earlier task as a candidate', async () => {
    const { earlier, task, batch } = await lives();
    expect(await stores().tasks.claim([candidateOf(earlier.id, earlier.run)], batch)).toEqual([false]);
    expect(await stores().tasks.get(task.id)).toEqual(task);
    expect(await stores().tasks.claim([candidateOf(task.id, task.run)], batch)).toEqual([true]);
  });

  it('keep their payload if a result of the earlier task comes late', async () => {
    const { earlier, task, sent, target, batch } = await lives({ payload: LARGE });
    await stores().tasks.storePayloads([sent]);
    await stores().tasks.claim([candidateOf(task.id, task.run)], batch);
    const payloadRow = { payloadHash: earlier.payloadHash, run: earlier.run };
    const result = { id: task.id, outcome: { status: 'succeeded' }, payloadRow } as const;
    await stores().tasks.finish([result], { id: batch, target, attempts: 1, at: NOW, keep: HOUR });
    expect(await stores().payloadExpires(task)).toBe(false);
  });

  it("are no members of the earlier task's batch, and not redriven", async () => {
    const { task } = await lives();
    const counts = { succeeded: 0, failed: 0 };
    const left = batchId(`${task.target}#9#9`);
    expect(await stores().tasks.members([task.id], left)).toEqual({ open: [], lost: [], ended: [], counts });
  });

  it('have run and event ids of their own; users see runs from 1', async () => {
    const { task, batch } = await lives();
    await stores().tasks.claim([candidateOf(task.id, task.run)], batch);
    const { target } = task;
    const outcome = { status: 'failed', error: expired.error } as const;
    await stores().tasks.finish([{ id: task.id, outcome }], { id: batch, target, attempts: 1, at: NOW, keep: HOUR });
    const failed = (await stores().tasks.get(task.id)) as Task;
    const [redriven] = await stores().tasks.redrive([failed], NOW + 2 * HOUR);
    expect([task, redriven?.stored as Task].map(runNumber)).toEqual([1, 2]);
    const events = [NOW, NOW + HOUR, NOW + HOUR + 1].map((run) => {
      const event = eventOf({ ...failed, run }, { ...outcome, attempts: 1, finishedAt: NOW });
      return (JSON.parse(event) as { id: string }).id;
    });
    expect(new Set(events).size).toBe(3);
  });
});
