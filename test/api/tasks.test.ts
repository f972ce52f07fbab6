import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { stepKit } from '../batching/step-kit.ts';
import { memoryStores } from '../contract/stores.ts';
import { aStart, aTask, batchId, candidate, NOW } from '../factories/factories.ts';

it('a task shows the time of its next attempt between two of them, and at no other time', async () => {
  const kit = stepKit(await memoryStores());
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  const shown = async () => (await (await app.request('/v1/tasks/task-1')).json()) as Record<string, unknown>;
  const task = aTask();
  const members = [candidate('task-1')];
  const id = batchId(`${task.target}#1#1`);

  await kit.tasks.insert([task]);
  const forming = {
    id,
    target: task.target,
    sealedBy: 'waited',
    candidates: members,
    oldestAt: NOW,
    createdAt: NOW,
  } as const;
  const batch = await kit.batches.form(forming);
  await kit.tasks.claim(members, id);
  await kit.batches.seal(batch, [], NOW, 1_000);
  expect(await shown()).toMatchObject({ status: 'batched' });
  expect(await shown()).not.toHaveProperty('nextAttemptAfter');
  await kit.batches.start(id, aStart(1, NOW, NOW + 60_000));
  expect(await shown()).toMatchObject({ status: 'in-progress' });
  expect(await shown()).not.toHaveProperty('nextAttemptAfter');
  await kit.batches.postpone(id, 1, NOW + 90_000);
  expect(await shown()).toMatchObject({ attempts: 1, nextAttemptAfter: '2026-01-01T00:01:30.000Z' });
  await kit.batches.finish(id, 1, { status: 'succeeded', counts: { succeeded: 1, failed: 0 }, at: NOW, keep: 1_000 });
  expect(await shown()).not.toHaveProperty('nextAttemptAfter');
});
