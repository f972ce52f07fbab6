import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { anItem, aPostponed, aStart, aTask, batchId, candidate, id, NOW } from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

it('a task shows the time of its next attempt only between two attempts', async () => {
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
  expect(await shown()).not.toHaveProperty('lastReason');
  const lastAttempt = { endedAt: NOW + 500, reason: 'answered 503', quote: 'no room' };
  await kit.batches.postpone(id, 1, aPostponed(NOW + 90_000, { lastAttempt }));
  const postponed = { nextAttemptAfter: '2026-01-01T00:01:30.000Z' };
  expect(await shown()).toMatchObject({ attempts: 1, ...postponed, lastReason: 'answered 503: no room' });
  const shownBatch = await (await app.request(`/v1/batches/${encodeURIComponent(id)}`)).json();
  expect(shownBatch).toMatchObject({
    ...postponed,
    lastAttempt: { endedAt: '2026-01-01T00:00:00.500Z', reason: 'answered 503: no room' },
  });
  await kit.batches.finish(id, 1, { status: 'succeeded', counts: { succeeded: 1, failed: 0 }, at: NOW, keep: 1_000 });
  expect(await shown()).not.toHaveProperty('nextAttemptAfter');
});

it('a task shows its optional fields, and the task that superseded it', async () => {
  const kit = stepKit(await memoryStores());
  const app = api({ ...kit, newId: () => 'new', onError: () => {} });
  const shown = async (id: string) => (await (await app.request(`/v1/tasks/${id}`)).json()) as Record<string, unknown>;
  const wishes = { priority: 9, weight: 0.5, coalesceKey: 'k "1"', callback: 'ops', fanOutItem: anItem('f:0:1') };
  const wished = aTask({ id: id('task-1'), ...wishes, ahead: 9_000, startBy: NOW + 60_000 });
  const inserted = await kit.tasks.insert([wished, aTask({ id: id('task-2') })]);
  const names = [...Object.keys(wishes), 'startBy', 'supersededBy'];
  expect(await shown('task-1')).toMatchObject({ ...wishes, startBy: '2026-01-01T00:01:00.000Z' });
  // `ahead` is internal to the order of the Target.
  expect(await shown('task-1')).not.toHaveProperty('ahead');
  expect(Object.keys(await shown('task-2')).filter((name) => names.includes(name))).toEqual([]);
  const settlements = inserted.map(({ stored }) => ({
    task: stored,
    as: { status: 'succeeded', supersededBy: id('task-3') } as const,
  }));
  await kit.tasks.settle(settlements, { at: NOW, keep: 1_000 });
  const superseded = await shown('task-1');
  expect(superseded).toMatchObject({ status: 'succeeded', supersededBy: 'task-3', attempts: 0 });
  expect(superseded).not.toHaveProperty('batchId');
});
