import { expect, it } from 'vitest';
import { api } from '../../src/api/app.ts';
import { Judge } from '../../src/steps/producers/judge.ts';
import { register } from '../../src/steps/register/register.ts';
import { redrive } from '../../src/steps/tasks/redrive.ts';
import {
  aConfig,
  aTask,
  batchId,
  registeredCandidate as candidate,
  id,
  NOW,
  operationName,
} from '../factories/factories.ts';
import { memoryStores } from '../ports/stores.ts';
import { stepKit } from '../steps/step-kit.ts';

const started = async () => {
  const kit = stepKit(await memoryStores());
  const appOf = (config = kit.config) => api({ ...kit, config, newId: () => 'new', onError: console.error });
  const cancel = async (name: string, init: RequestInit = {}, config = kit.config) => {
    const response = await appOf(config).request(`/v1/tasks/${name}`, { method: 'DELETE', ...init });
    return { ...((await response.json()) as Record<string, unknown>), status: response.status };
  };
  const body = '{"operation":"ship","id":"task-1","payload":{"depot":"MUC"}}';
  await register(kit, [{ messageId: 'm', body }]);
  return { kit, cancel };
};

const CANCELLED = {
  id: 'task-1',
  status: 200,
  error: { code: 'cancelled', retriable: true },
  payload: { depot: 'MUC' },
};

it('a waiting task is cancelled, once or twice, and returned in its new state', async () => {
  const { kit, cancel } = await started();
  const { status: _, ...shown } = CANCELLED;
  for (let times = 0; times < 2; times += 1) {
    // The answer has its own `status`, which is the task's.
    const response = await api({ ...kit, newId: () => 'new', onError: console.error }).request('/v1/tasks/task-1', {
      method: 'DELETE',
    });
    expect([response.status, await response.json()]).toMatchObject([200, { ...shown, status: 'failed' }]);
  }
  expect(await kit.waiting.first(aTask().target, 10)).toEqual([]);
  expect(await cancel('task-1', { body: '{"dryRun":true}' })).toMatchObject({ status: 400 });
});

it('an unknown or just arriving task is not cancelled, and the answer says which', async () => {
  const { kit, cancel } = await started();
  expect(await cancel('nobody')).toMatchObject({ status: 404, detail: expect.stringContaining('no task "nobody"') });
  expect(await cancel('%20')).toMatchObject({ status: 404 });
  await kit.tasks.insert([aTask({ id: id('young') })]);
  expect(await cancel('young')).toMatchObject({
    status: 409,
    detail: expect.stringContaining('is being registered and cannot be cancelled yet: try again in a moment'),
  });
});

it('a task in a batch or ended is not cancelled, and the answer says why', async () => {
  const { kit, cancel } = await started();
  const batch = batchId('ship/depot=MUC#1#1');
  await kit.tasks.claim([candidate('task-1')], batch);
  expect(await cancel('task-1')).toMatchObject({
    status: 409,
    detail: 'task task-1 can no longer be cancelled: it is in batch ship/depot=MUC#1#1',
  });
  const end = { id: batch, target: aTask().target, attempts: 1, at: NOW, keep: 1_000 };
  await kit.tasks.finish([{ id: id('task-1'), outcome: { status: 'succeeded' } }], end);
  expect(await cancel('task-1')).toMatchObject({ status: 409, detail: expect.stringContaining('it has succeeded') });
});

it('a task whose operation is not configured is not cancelled: its retention is unknown', async () => {
  const { kit, cancel } = await started();
  const other = aConfig({ operation: operationName('parcels') });
  expect(await cancel('task-1', {}, other)).toMatchObject({ status: 409, detail: expect.stringContaining('"ship"') });
  expect((await kit.tasks.get(id('task-1')))?.state.status).toBe('created');
});

it('a cancelled task that is redriven waits again, and can be cancelled again', async () => {
  const { kit, cancel } = await started();
  await cancel('task-1');
  const message = { messageId: 'm', body: '', sender: { id: 'local', via: 'api' } } as const;
  await redrive(kit, new Judge('enforce', {}), [{ message, asked: { id: id('task-1'), run: 1 } }]);
  // The register function also writes the waiting row.
  const again = await kit.tasks.get(id('task-1'));
  if (again) await kit.waiting.put([again]);
  expect(await cancel('task-1')).toMatchObject({ run: 2, error: { code: 'cancelled' } });
});
